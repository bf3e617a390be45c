// Points of metrics as columns: a series may have a million.

import { columnOf } from "#store/native/decode-block.ts";
import type { ParamValue } from "#store/params.ts";
import { tieOf } from "#store/point-order.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { fingerprintRow, fingerprintSql, partsSql, type StoredRows, toStoredRows } from "./fingerprint.ts";
import { inGroups } from "./group-scope.ts";
import { big, decimal, int, readRows, readValue, streamNativeBlocks, text } from "./native-rows.ts";
import type { TextCodes } from "./timeline.ts";

/**
 * What is read of the points. `steps`: their own steps. `epochs`: their own steps and epochs. `places`: steps and
 * epochs, those of the enclosing spans where a mark has none of its own, which change when a span comes.
 */
export type PointKind = "steps" | "epochs" | "places";

export interface PointRequest {
  readonly groups: readonly string[];
  readonly keys: readonly string[];
  readonly kind: PointKind;
}

/** Points in no order, of several groups and keys. */
export interface PointBlock {
  readonly rows: number;
  readonly group: TextCodes;
  readonly key: TextCodes;
  /** `rankWorker` for a mark: its worker is the rank of its group. */
  readonly worker: TextCodes;
  readonly phase: TextCodes;
  readonly step: BigInt64Array;
  /** Null when it was not asked for. */
  readonly epoch: BigInt64Array | null;
  readonly tsNs: BigInt64Array;
  readonly value: Float64Array;
  /** See `tieOf`. */
  readonly tie: BigInt64Array;
  readonly entry: Int32Array;
  /** Bits of `pointFlags`. */
  readonly flags: Uint8Array;
}

/** What a point lacks: its column has a 0 there. */
export const pointFlags = { noStep: 1, noEpoch: 2, noValue: 4 } as const;

export const rankWorker = "\u0001rank";

/** The stored points of one group and key. */
export interface StoredPoints extends StoredRows {
  readonly group: string;
  readonly key: string;
}

const mine = "m.group_key IN {groups:Array(String)} AND m.key IN {keys:Array(String)}";

function paramsOf({ groups, keys }: PointRequest): Record<string, ParamValue> {
  return { groups, keys };
}

/** The number of points, and a text that changes with every one of them; with every span too for `places`. */
export async function readPointParts(store: Store, request: PointRequest) {
  const { database } = store;
  const points = `SELECT 'metrics' AS table, toUInt32(count()) AS points, ${partsSql} FROM ${database}.metrics AS m WHERE ${mine}`;
  const spans = `SELECT 'spans' AS table, toUInt32(0) AS points, ${partsSql} FROM ${database}.spans AS m
    WHERE m.group_key IN {groups:Array(String)}`;
  const rows = await readRows(
    store,
    { table: text, points: int, parts: decimal },
    { sql: request.kind === "places" ? `${points} UNION ALL ${spans}` : points, params: paramsOf(request) },
  );
  const parts = rows.map((row) => `${row.table}:${row.points}:${row.parts}`).sort();
  return { points: rows.reduce((sum, row) => sum + row.points, 0), parts: parts.join(" ") };
}

/** Per group and key that has points; `before` is a journal position for each group. */
export async function readPointState(
  store: Store,
  request: PointRequest,
  before: readonly bigint[],
): Promise<StoredPoints[]> {
  const rows = await readRows(
    store,
    { group: text, of_key: text, ...fingerprintRow },
    {
      sql: `SELECT toString(m.group_key) AS group, toString(m.key) AS of_key, ${fingerprintSql(ofGroup("before"))}
        FROM ${store.database}.metrics AS m WHERE ${mine} GROUP BY m.group_key, m.key`,
      params: { ...paramsOf(request), before },
    },
  );
  return rows.map((row) => ({ ...toStoredRows(row), group: row.group, key: row.of_key }));
}

/** A position of each group, looked up in the dictionary of the column rather than row by row. */
function ofGroup(name: string): string {
  return `transform(m.group_key, {groups:Array(String)}, {${name}:Array(Int64)}, toInt64(-1))`;
}

/** Points after a journal position of their group, up to `last`. */
export async function* readPointBlocks(
  store: Store,
  request: PointRequest,
  range: { readonly after: readonly bigint[]; readonly last: bigint },
): AsyncGenerator<PointBlock> {
  const fresh = range.after.every((position) => position < 0n) ? "" : `AND m.jpos > ${ofGroup("after")}`;
  const query = {
    sql: pointsSql(store.database, request.kind, `${mine} AND m.jpos <= {last:Int64} ${fresh}`),
    params: { ...paramsOf(request), last: range.last, after: range.after },
  };
  for await (const block of streamNativeBlocks(store, query))
    yield {
      rows: block.rows,
      group: columnOf(block, "of_group", "dict"),
      key: columnOf(block, "of_key", "dict"),
      worker: columnOf(block, "of_worker", "dict"),
      phase: columnOf(block, "of_phase", "dict"),
      step: columnOf(block, "at_step", "int64").values,
      epoch: request.kind === "steps" ? null : columnOf(block, "at_epoch", "int64").values,
      tsNs: columnOf(block, "at_ns", "int64").values,
      value: columnOf(block, "v", "float64").values,
      tie: columnOf(block, "tie", "int64").values,
      entry: columnOf(block, "at_entry", "int32").values,
      flags: columnOf(block, "bits", "uint8").values,
    };
}

/** When the run of these groups began, as its head says it: with the earliest of all its rows; 0 when there is none. */
export async function readFirstTime(store: Store, groups: readonly string[]): Promise<bigint> {
  const firstOf = (table: string) =>
    `SELECT min(min_ns) AS first_ns FROM ${store.database}.${table} WHERE ${inGroups} GROUP BY group_key`;
  const sql = `SELECT ifNull(min(first_ns), 0) FROM (${firstOf("group_times")} UNION ALL ${firstOf("metric_summary")})
    WHERE first_ns != 0`;
  return (await readValue(store, big, { sql, params: { groups } })) ?? 0n;
}

function pointsSql(database: string, kind: PointKind, where: string): string {
  const lacks = (column: string, bit: number) => `if(isNull(${column}), ${bit}, 0)`;
  const place = (name: "step" | "epoch") =>
    kind === "places" ? `ifNull(m.${name}, if(m.span_id = '', NULL, e.${name}))` : `m.${name}`;
  const epoch =
    kind === "steps"
      ? { column: "", bit: "" }
      : { column: `ifNull(${place("epoch")}, 0) AS at_epoch,`, bit: ` + ${lacks(place("epoch"), pointFlags.noEpoch)}` };
  const from = `FROM ${database}.metrics AS m WHERE ${where}`;
  return `SELECT m.group_key AS of_group, m.key AS of_key, m.phase AS of_phase,
      toLowCardinality(if(${withTrait("m.source", "sessions")}, '${rankWorker}', toString(m.worker))) AS of_worker,
      ifNull(${place("step")}, 0) AS at_step, ${epoch.column} m.ts_ns AS at_ns, ifNull(m.value, 0) AS v,
      ${tieOf("m")} AS tie, m.entry AS at_entry,
      toUInt8(${lacks(place("step"), pointFlags.noStep)}${epoch.bit} + ${lacks("m.value", pointFlags.noValue)}) AS bits
    ${kind === "places" ? `FROM (SELECT m.* ${from}) AS m LEFT JOIN (${enclosingSql(database)}) AS e ON e.span_id = m.span_id` : from}`;
}

/** The step and epoch of the spans around every mark that has none of its own. */
export function enclosingSql(database: string, which = "key IN {keys:Array(String)}"): string {
  const columns = "span_id, ifNull(parent_id, '') AS parent_id, toString(name) AS name, index";
  const wanted = `SELECT span_id FROM ${database}.metrics WHERE ${inGroups} AND ${which}
      AND span_id != '' AND (step IS NULL OR epoch IS NULL)`;
  const spans = `SELECT ${columns} FROM ${database}.spans WHERE ${inGroups}`;
  const pick = (name: string) =>
    `multiIf(a.name = '${name}', a.index, b.name = '${name}', b.index, c.name = '${name}', c.index, d.name = '${name}', d.index, NULL)`;
  return `SELECT a.span_id AS span_id, ${pick("step")} AS step, ${pick("epoch")} AS epoch
      FROM (${spans} AND span_id IN (${wanted})) AS a
      LEFT JOIN (${spans}) AS b ON b.span_id = a.parent_id
      LEFT JOIN (${spans}) AS c ON c.span_id = b.parent_id
      LEFT JOIN (${spans}) AS d ON d.span_id = c.parent_id`;
}
