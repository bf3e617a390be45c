// Spans, node executions and marks for the timeline, as columns straight from the engine's native blocks: a run may have
// a million.

import { columnOf } from "#store/native/decode-block.ts";
import type { Store } from "#store/store.ts";
import { fingerprintRow, fingerprintSql, partsSql, type StoredRows, toStoredRows } from "./fingerprint.ts";
import { inGroups } from "./group-scope.ts";
import { decimal, readRows, streamNativeBlocks, text, word } from "./native-rows.ts";

/** Texts by code. A block's keys may hold some that none of its rows has. */
export interface TextCodes {
  readonly keys: readonly string[];
  readonly codes: Uint32Array;
}

/** Some spans and node executions as they are stored, in no order. */
export interface SpanBlock {
  readonly rows: number;
  /** 16 bytes a span: the id itself when it is 16 or 32 hex digits, else a hash (see `OddIds`). */
  readonly ids: Uint8Array;
  /** The same of the parent; without meaning where `flags` has no `parent`. */
  readonly parents: Uint8Array;
  readonly startNs: BigInt64Array;
  readonly endNs: BigInt64Array;
  /** -1 when there is none. */
  readonly gpuNs: BigInt64Array;
  /** Scope index; `noIndex` when there is none. */
  readonly index: BigInt64Array;
  readonly name: TextCodes;
  readonly lane: TextCodes;
  /** `node`, `error` of `timelineFlags`, and `blockFlags`. */
  readonly flags: Uint8Array;
}

export interface MarkBlock {
  readonly rows: number;
  readonly tsNs: BigInt64Array;
  /** As `SpanBlock.ids`. */
  readonly spans: Uint8Array;
  readonly name: TextCodes;
}

/** The tables that a timeline is made of. */
export const timelineTables = ["spans", "nodes", "marks"] as const;
export type TimelineTable = (typeof timelineTables)[number];

/** Rows of some groups that came behind one journal position and not behind another. */
export interface RowRange {
  readonly groups: readonly string[];
  readonly after: bigint;
  readonly last: bigint;
}

/** The texts of ids that are not hex, by the hex of their hash. */
export type OddIds = readonly { readonly id: string; readonly text: string }[];

export const noIndex: bigint = -(2n ** 63n);

/** Bits of `flags`, as the API has them. */
export const timelineFlags = { placeholder: 1, unfinished: 2, node: 4, error: 8, orphan: 16 } as const;

/** Bits that only blocks have: the span names a parent; its id or its parent's is not hex. */
export const blockFlags = { parent: 32, odd: 64 } as const;

/** A lane's name: rank, process and thread; `node` for pipeline nodes. */
const laneSql = "concat(toString(rank), '/', ifNull(toString(pid), ''), '/', ifNull(toString(thread_id), ''))";

/** As Cirron's and OTLP's ids are. */
const isHex = (column: string) => `match(${column}, '^(?:[0-9a-f]{16}|[0-9a-f]{32})$')`;

/** 16 bytes of an id: its own when it is hex, with zeros behind it when it has only 8; else a hash. */
const idSql = (column: string) => `if(${isHex(column)}, toFixedString(unhex(${column}), 16), MD5(${column}))`;

const inRange = `${inGroups} AND jpos > {after:Int64} AND jpos <= {last:Int64}`;

function rangeParams({ groups, after, last }: RowRange) {
  return { groups, after, last };
}

export async function readTimelineParts(store: Store, groups: readonly string[]): Promise<string> {
  const sql = timelineTables.map(
    (table) => `SELECT '${table}' AS table, ${partsSql} FROM ${store.database}.${table} WHERE ${inGroups}`,
  );
  const query = { sql: sql.join(" UNION ALL "), params: { groups } };
  const rows = await readRows(store, { table: text, parts: decimal }, query);
  return rows
    .map(({ table, parts }) => `${table}:${parts}`)
    .sort()
    .join(" ");
}

/** What there is of a run's timeline by table, and up to a journal position for each. */
export async function readTimelineState(
  store: Store,
  groups: readonly string[],
  before: Readonly<Record<TimelineTable, bigint>>,
): Promise<Record<TimelineTable, StoredRows>> {
  const sql = timelineTables.map(
    (table) =>
      `SELECT '${table}' AS table, ${fingerprintSql(`{${table}:Int64}`)} FROM ${store.database}.${table} WHERE ${inGroups}`,
  );
  const query = { sql: sql.join(" UNION ALL "), params: { groups, ...before } };
  const rows = await readRows(store, { table: word<TimelineTable>(), ...fingerprintRow }, query);
  return Object.fromEntries(rows.map((row) => [row.table, toStoredRows(row)])) as Record<TimelineTable, StoredRows>;
}

/** Of Cirron spans, or of node executions. */
export async function* readSpanBlocks(
  store: Store,
  table: "spans" | "nodes",
  range: RowRange,
): AsyncGenerator<SpanBlock> {
  const sql = table === "spans" ? spansSql(store.database) : nodesSql(store.database);
  for await (const block of streamNativeBlocks(store, { sql, params: rangeParams(range) }))
    yield {
      rows: block.rows,
      ids: columnOf(block, "id", "fixed").bytes,
      parents: columnOf(block, "parent", "fixed").bytes,
      startNs: columnOf(block, "start_ns", "int64").values,
      endNs: columnOf(block, "end_ns", "int64").values,
      gpuNs: columnOf(block, "gpu", "int64").values,
      index: columnOf(block, "idx", "int64").values,
      name: columnOf(block, "name", "dict"),
      lane: columnOf(block, "lane", "dict"),
      flags: columnOf(block, "flags", "uint8").values,
    };
}

function spansSql(database: string): string {
  const parent = "ifNull(parent_id, '')";
  const odd = `NOT (${isHex("span_id")} AND (isNull(parent_id) OR ${isHex(parent)}))`;
  return `SELECT ${idSql("span_id")} AS id, ${idSql(parent)} AS parent, start_ns, end_ns, ifNull(gpu_ns, -1) AS gpu,
      ifNull(index, toInt64(${noIndex})) AS idx, name, toLowCardinality(${laneSql}) AS lane,
      toUInt8(if(isNull(parent_id), 0, ${blockFlags.parent}) + if(${odd}, ${blockFlags.odd}, 0)) AS flags
    FROM ${database}.spans WHERE ${inRange}`;
}

function nodesSql(database: string): string {
  return `SELECT MD5(event_id) AS id, toFixedString('', 16) AS parent, start_ns, greatest(end_ns, start_ns) AS end_ns,
      toInt64(-1) AS gpu, toInt64(${noIndex}) AS idx, toLowCardinality(if(processor = '', node_id, toString(processor))) AS name,
      toLowCardinality('node') AS lane,
      toUInt8(${timelineFlags.node + blockFlags.odd} + if(status = 'error', ${timelineFlags.error}, 0)) AS flags
    FROM ${database}.nodes WHERE ${inRange} AND start_ns > 0`;
}

export async function* readMarkBlocks(store: Store, range: RowRange): AsyncGenerator<MarkBlock> {
  const sql = `SELECT ts_ns, ${idSql("span_id")} AS span, name FROM ${store.database}.marks WHERE ${inRange}`;
  for await (const block of streamNativeBlocks(store, { sql, params: rangeParams(range) }))
    yield {
      rows: block.rows,
      tsNs: columnOf(block, "ts_ns", "int64").values,
      spans: columnOf(block, "span", "fixed").bytes,
      name: columnOf(block, "name", "dict"),
    };
}

/** Texts of the ids and parents of these rows that are not hex. */
export async function readOddIds(store: Store, table: "spans" | "nodes", range: RowRange): Promise<OddIds> {
  const from = `FROM ${store.database}.${table} WHERE ${inRange}`;
  const texts = (column: string) =>
    `SELECT DISTINCT lower(hex(MD5(${column}))) AS id, ${column} AS text ${from} AND NOT ${isHex(column)}`;
  const sql =
    table === "spans"
      ? `${texts("span_id")} UNION ALL ${texts("assumeNotNull(parent_id)")} AND isNotNull(parent_id)`
      : `SELECT lower(hex(MD5(event_id))) AS id, concat('node:', event_id) AS text ${from}`;
  return readRows(store, { id: text, text }, { sql, params: rangeParams(range) });
}
