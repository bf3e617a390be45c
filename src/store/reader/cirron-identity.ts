// What intake asks about stored Cirron rows: whose id is it, what is known of a component, was a batch taken. Each
// question names a few ids and costs the same however much is stored.

import { clampInt64 } from "#base/int64.ts";
import type { StateRow } from "#model/state-tables.ts";
import type { DecodedBlock } from "#store/native/decode-block.ts";
import type { ParamValue } from "#store/params.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import {
  big,
  count,
  int,
  list,
  nullable,
  type RowOf,
  readColumn,
  readNativeBlocks,
  readRow,
  readRows,
  readValue,
  senderNs,
  serverNs,
  streamRows,
  text,
  word,
} from "./native-rows.ts";
import { readStateRows } from "./state-rows.ts";

export type IdKind = "span" | "mark" | "snapshot";

const keysAtOnce = 20_000;

const keyedGroup = { key: big, groupKey: text };

/** The groups that have a row with one of these keys, or name it. */
export async function readGroupsOfIds(store: Store, keys: readonly bigint[]): Promise<RowOf<typeof keyedGroup>[]> {
  const sql = `SELECT DISTINCT id_key AS key, group_key AS groupKey FROM ${store.database}.cirron_ids
    WHERE id_key IN {keys:Array(Int64)}`;
  const found: RowOf<typeof keyedGroup>[] = [];
  for (let at = 0; at < keys.length; at += keysAtOnce) {
    const params = { keys: keys.slice(at, at + keysAtOnce) };
    for await (const row of streamRows(store, keyedGroup, { sql, params })) found.push(row);
  }
  return found;
}

const storedRow = { kind: word<IdKind>(), id: text, groupKey: text, hash: int, parentId: nullable(text) };
export type StoredRowText = RowOf<typeof storedRow>;

const rowTables = {
  span: { table: "spans", id: "span_id", parent: "parent_id" },
  mark: { table: "marks", id: "mark_id", parent: "NULL" },
  snapshot: { table: "snapshots", id: "snapshot_id", parent: "NULL" },
} as const;

export async function readRowsOfIds(
  store: Store,
  groups: readonly string[],
  ids: Readonly<Record<IdKind, readonly string[]>>,
): Promise<StoredRowText[]> {
  const kinds = (Object.keys(rowTables) as IdKind[]).filter((kind) => ids[kind].length > 0);
  const answers = await Promise.all(
    kinds.map((kind) => {
      const { table, id, parent } = rowTables[kind];
      return readRows(store, storedRow, {
        sql: `SELECT '${kind}' AS kind, ${id} AS id, toString(group_key) AS groupKey, content_hash AS hash,
            CAST(${parent} AS Nullable(String)) AS parentId
          FROM ${store.database}.${table} WHERE ${inGroups} AND ${id} IN {ids:Array(String)}`,
        params: { groups, ids: ids[kind] },
      });
    }),
  );
  return answers.flat();
}

/** Components of these sources within a time that have one of these processes, or no spans at all. */
export function readNearComponents(
  store: Store,
  workspace: string,
  near: {
    readonly sources: readonly string[];
    readonly processes: readonly string[];
    readonly anyProcess: boolean;
    readonly fromNs: bigint;
    readonly toNs: bigint;
  },
): Promise<StateRow<"cirron_components">[]> {
  const { sources, processes, anyProcess, fromNs, toNs } = near;
  return readStateRows(
    store,
    "cirron_components",
    `WHERE workspace = {workspace:String} AND merged_into = '' AND first_ns <= {to:Int64} AND last_ns >= {from:Int64}
        AND hasAny(JSONExtract(sources, 'Array(String)'), {sources:Array(String)})
        AND ({any:UInt8} = 1 OR JSONExtractUInt(state, 'spans') = 0
          OR hasAny(JSONExtract(state, 'processes', 'Array(String)'), {processes:Array(String)}))`,
    { workspace, sources, processes, any: anyProcess ? 1 : 0, from: clampInt64(fromNs), to: clampInt64(toNs) },
  );
}

/** Without what clients send beside the rows, which may be long. */
const batchRow = {
  batch_id: text,
  source: text,
  content_hash: text,
  group_key: text,
  run_override: text,
  received_ns: serverNs,
};

function readBatchesWhere(store: Store, where: string, params: Record<string, ParamValue>) {
  const columns = Object.keys(batchRow).join(", ");
  const sql = `SELECT ${columns} FROM ${store.database}.cirron_batches FINAL WHERE ${where}`;
  return readRows(store, batchRow, { sql, params });
}

/** The first of each id comes first. */
export function readBatches(store: Store, workspace: string, ids: readonly string[]) {
  const where = "workspace = {workspace:String} AND batch_id IN {ids:Array(String)} ORDER BY received_ns";
  return readBatchesWhere(store, where, { workspace, ids });
}

export function readBatchesOfGroups(store: Store, groups: readonly string[]) {
  return readBatchesWhere(store, inGroups, { groups });
}

export function readRowHours(store: Store): Promise<number[]> {
  return readColumn(store, int, { sql: `SELECT DISTINCT hour FROM ${store.database}.cirron_ids` });
}

/** When the last row of all components ended. */
export async function readLastEnd(store: Store): Promise<bigint> {
  const sql = `SELECT max(last_ns) FROM ${store.database}.cirron_components`;
  return (await readValue(store, big, { sql })) ?? 0n;
}

/** The keys of rows that begin in these hours, up to the limit. */
export function readKeysSince(store: Store, fromHour: number, toHour: number, limit: number): Promise<DecodedBlock[]> {
  return readNativeBlocks(store, {
    sql: `SELECT id_key FROM ${store.database}.cirron_ids WHERE hour >= {from:Int32} AND hour <= {to:Int32} LIMIT {limit:UInt32}`,
    params: { from: fromHour, to: toHour, limit },
  });
}

const componentPlace = {
  workspace: text,
  sources: list(text),
  processes: list(text),
  spans: count,
  firstNs: senderNs,
  lastNs: senderNs,
};

/** Where the components with the latest rows lie, up to a limit. All that end after `sinceNs` are among them. */
export async function readLatestComponents(store: Store, limit: number) {
  const from = `FROM ${store.database}.cirron_components WHERE merged_into = '' AND first_ns <= last_ns`;
  const next = `SELECT last_ns ${from} ORDER BY last_ns DESC LIMIT 1 OFFSET {limit:UInt32}`;
  const sinceNs = (await readValue(store, big, { sql: next, params: { limit } })) ?? -(2n ** 63n);
  // A component that was stored again appears several times until the engine merges it, which only costs time.
  const places = await readRows(store, componentPlace, {
    sql: `SELECT workspace, JSONExtract(sources, 'Array(String)') AS sources,
        JSONExtract(state, 'processes', 'Array(String)') AS processes, JSONExtractUInt(state, 'spans') AS spans,
        first_ns AS firstNs, last_ns AS lastNs
      ${from} AND last_ns > {since:Int64}`,
    params: { since: sinceNs },
  });
  return { sinceNs, places };
}

/** The hours of components that end no later than this; null if one of them is too long to count. */
export async function readComponentHours(store: Store, untilNs: bigint, hoursMax: number): Promise<number[] | null> {
  const hour = (column: string): string => `toInt64(floor(toFloat64(${column}) / 3600000000000))`;
  const span = await readRow(
    store,
    { longest: count, hours: list(count) },
    {
      sql: `SELECT max(until - since) AS longest,
          arraySort(groupUniqArrayArray(range(since, since + least(until - since, ${hoursMax}) + 1))) AS hours
        FROM (SELECT ${hour("first_ns")} AS since, ${hour("last_ns")} AS until FROM ${store.database}.cirron_components
          WHERE merged_into = '' AND first_ns <= last_ns AND last_ns <= {until:Int64})`,
      params: { until: untilNs },
    },
  );
  return span === null || span.longest > hoursMax ? null : span.hours;
}

/** The ids of batches that came since, for the first time or again. */
export function readBatchIdsSince(store: Store, sinceNs: bigint) {
  const sql = `SELECT DISTINCT workspace, batch_id FROM ${store.database}.cirron_batches WHERE version > {since:Int64}`;
  return readRows(store, { workspace: text, batch_id: text }, { sql, params: { since: sinceNs } });
}

/** Cirron groups that have no component: it was in a plan that is lost. */
export function readGroupsWithoutComponent(store: Store, limit: number): Promise<string[]> {
  const { database } = store;
  const sql = `SELECT group_key FROM ${database}.groups FINAL WHERE protocol = 'cirron' AND deleted_ns = 0
      AND group_key NOT IN (SELECT group_key FROM ${database}.cirron_components)
      AND group_key NOT IN (SELECT arrayJoin(JSONExtract(state, 'keys', 'Array(String)')) FROM ${database}.cirron_components)
    LIMIT {limit:UInt32}`;
  return readColumn(store, text, { sql, params: { limit } });
}
