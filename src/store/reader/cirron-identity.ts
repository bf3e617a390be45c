// What intake asks of stored Cirron rows: whose id is it, what is known of a component, was a batch taken. Each question
// names a few ids and costs the same however much is stored.

import type { StateRow } from "#model/state-tables.ts";
import type { DecodedBlock } from "#store/native/decode-block.ts";
import type { Query, Store } from "#store/store.ts";
import { readNativeBlocks } from "./native-rows.ts";

export type IdKind = "span" | "mark" | "snapshot";

const keysAtOnce = 20_000;

/** The groups that have a row with one of these keys, or name it. */
export async function readGroupsOfIds(
  store: Store,
  keys: readonly bigint[],
): Promise<{ readonly key: bigint; readonly groupKey: string }[]> {
  const found: { key: bigint; groupKey: string }[] = [];
  for (let at = 0; at < keys.length; at += keysAtOnce) {
    const rows = await store.query<{ id_key: string; group_key: string }>({
      sql: `SELECT DISTINCT id_key, group_key FROM ${store.database}.cirron_ids WHERE id_key IN {keys:Array(Int64)}`,
      params: { keys: keys.slice(at, at + keysAtOnce) },
    });
    for (const row of rows) found.push({ key: BigInt(row.id_key), groupKey: row.group_key });
  }
  return found;
}

export interface StoredRowText {
  readonly kind: IdKind;
  readonly id: string;
  readonly groupKey: string;
  readonly hash: number;
  readonly parentId: string | null;
}

const rowTables = {
  span: { table: "spans", id: "span_id", parent: "parent_id" },
  mark: { table: "marks", id: "mark_id", parent: "NULL" },
  snapshot: { table: "snapshots", id: "snapshot_id", parent: "NULL" },
} as const;

/** The rows of these groups with these ids. */
export async function readRowsOfIds(
  store: Store,
  groups: readonly string[],
  ids: Readonly<Record<IdKind, readonly string[]>>,
): Promise<StoredRowText[]> {
  const kinds = (Object.keys(rowTables) as IdKind[]).filter((kind) => ids[kind].length > 0);
  const answers = await Promise.all(
    kinds.map((kind) => {
      const { table, id, parent } = rowTables[kind];
      return store.query<StoredRowText>({
        sql: `SELECT '${kind}' AS kind, ${id} AS id, toString(group_key) AS groupKey, content_hash AS hash,
            CAST(${parent} AS Nullable(String)) AS parentId
          FROM ${store.database}.${table} WHERE group_key IN {groups:Array(String)} AND ${id} IN {ids:Array(String)}`,
        params: { groups, ids: ids[kind] },
      });
    }),
  );
  return answers.flat();
}

type ComponentText = Record<keyof StateRow<"cirron_components">, string>;

export function readComponentRows(store: Store, groups: readonly string[]): Promise<StateRow<"cirron_components">[]> {
  return readComponents(store, {
    sql: `SELECT * FROM ${store.database}.cirron_components FINAL WHERE group_key IN {groups:Array(String)}`,
    params: { groups },
  });
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
  return readComponents(store, {
    sql: `SELECT * FROM ${store.database}.cirron_components FINAL
      WHERE workspace = {workspace:String} AND merged_into = '' AND first_ns <= {to:Int64} AND last_ns >= {from:Int64}
        AND hasAny(JSONExtract(sources, 'Array(String)'), {sources:Array(String)})
        AND ({any:UInt8} = 1 OR JSONExtractUInt(state, 'spans') = 0
          OR hasAny(JSONExtract(state, 'processes', 'Array(String)'), {processes:Array(String)}))`,
    params: {
      workspace,
      sources,
      processes,
      any: anyProcess ? 1 : 0,
      from: clamp(fromNs),
      to: clamp(toNs),
    },
  });
}

async function readComponents(store: Store, query: Query): Promise<StateRow<"cirron_components">[]> {
  const rows = await store.query<ComponentText>(query);
  return rows.map((row) => ({
    ...row,
    first_ns: BigInt(row.first_ns),
    last_ns: BigInt(row.last_ns),
    version: BigInt(row.version),
  }));
}

function clamp(ns: bigint): bigint {
  const max = 2n ** 63n - 1n;
  return ns > max ? max : ns < -max ? -max : ns;
}

export interface BatchText {
  readonly batch_id: string;
  readonly source: string;
  readonly content_hash: string;
  readonly group_key: string;
  readonly run_override: string;
}

const batchColumns = "batch_id, source, content_hash, group_key, run_override";

export function readBatches(store: Store, workspace: string, ids: readonly string[]): Promise<BatchText[]> {
  return store.query({
    sql: `SELECT ${batchColumns} FROM ${store.database}.cirron_batches FINAL
      WHERE workspace = {workspace:String} AND batch_id IN {ids:Array(String)}`,
    params: { workspace, ids },
  });
}

export function readBatchesOfGroups(store: Store, groups: readonly string[]): Promise<BatchText[]> {
  return store.query({
    sql: `SELECT ${batchColumns} FROM ${store.database}.cirron_batches FINAL WHERE group_key IN {groups:Array(String)}`,
    params: { groups },
  });
}

/** The hours in which stored rows begin. */
export async function readRowHours(store: Store): Promise<number[]> {
  const rows = await store.query<{ hour: number }>({
    sql: `SELECT DISTINCT hour FROM ${store.database}.cirron_ids`,
  });
  return rows.map(({ hour }) => hour);
}

/** When the last row of all components ended. */
export async function readLastEnd(store: Store): Promise<bigint> {
  const [row] = await store.query<{ last: string }>({
    sql: `SELECT max(last_ns) AS last FROM ${store.database}.cirron_components`,
  });
  return BigInt(row?.last ?? 0);
}

/** The keys of rows that begin in these hours, the limit at most. */
export function readKeysSince(store: Store, fromHour: number, toHour: number, limit: number): Promise<DecodedBlock[]> {
  return readNativeBlocks(store, {
    sql: `SELECT id_key FROM ${store.database}.cirron_ids WHERE hour >= {from:Int32} AND hour <= {to:Int32} LIMIT {limit:UInt32}`,
    params: { from: fromHour, to: toHour, limit },
  });
}

export interface ComponentPlace {
  readonly workspace: string;
  readonly sources: readonly string[];
  readonly processes: readonly string[];
  readonly spans: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

/** Of the components with the latest rows, so many at most: where they lie. All that end after `sinceNs` are among them. */
export async function readLatestComponents(
  store: Store,
  limit: number,
): Promise<{ readonly sinceNs: bigint; readonly places: ComponentPlace[] }> {
  const from = `FROM ${store.database}.cirron_components WHERE merged_into = '' AND first_ns <= last_ns`;
  const [next] = await store.query<{ last_ns: string }>({
    sql: `SELECT last_ns ${from} ORDER BY last_ns DESC LIMIT 1 OFFSET {limit:UInt32}`,
    params: { limit },
  });
  const sinceNs = next === undefined ? -(2n ** 63n) : BigInt(next.last_ns);
  // A component that is stored again stands here several times until the engine has merged them: that only costs time.
  const rows = await store.query<{
    workspace: string;
    sources: string[];
    processes: string[];
    spans: string;
    first_ns: string;
    last_ns: string;
  }>({
    sql: `SELECT workspace, JSONExtract(sources, 'Array(String)') AS sources,
        JSONExtract(state, 'processes', 'Array(String)') AS processes, JSONExtractUInt(state, 'spans') AS spans,
        first_ns, last_ns
      ${from} AND last_ns > {since:Int64}`,
    params: { since: sinceNs },
  });
  const places = rows.map(({ workspace, sources, processes, spans, first_ns, last_ns }) => ({
    workspace,
    sources,
    processes,
    spans: Number(spans),
    firstNs: BigInt(first_ns),
    lastNs: BigInt(last_ns),
  }));
  return { sinceNs, places };
}

/** The hours that components lie in that end no later than this; null when one of them is too long to count. */
export async function readComponentHours(store: Store, untilNs: bigint, hoursMax: number): Promise<number[] | null> {
  const hour = (column: string): string => `toInt64(floor(toFloat64(${column}) / 3600000000000))`;
  const [row] = await store.query<{ longest: string; hours: string[] }>({
    sql: `SELECT max(until - since) AS longest,
        arraySort(groupUniqArrayArray(range(since, since + least(until - since, ${hoursMax}) + 1))) AS hours
      FROM (SELECT ${hour("first_ns")} AS since, ${hour("last_ns")} AS until FROM ${store.database}.cirron_components
        WHERE merged_into = '' AND first_ns <= last_ns AND last_ns <= {until:Int64})`,
    params: { until: untilNs },
  });
  if (row === undefined || Number(row.longest) > hoursMax) return null;
  return row.hours.map(Number);
}

/** The ids of the batches that came since. */
export function readBatchIdsSince(
  store: Store,
  sinceNs: bigint,
): Promise<{ readonly workspace: string; readonly batch_id: string }[]> {
  return store.query({
    sql: `SELECT DISTINCT workspace, batch_id FROM ${store.database}.cirron_batches WHERE received_ns > {since:Int64}`,
    params: { since: sinceNs },
  });
}

/** Cirron groups that have no component, of an older release. */
export async function readGroupsWithoutComponent(store: Store, limit: number): Promise<string[]> {
  const { database } = store;
  const rows = await store.query<{ group_key: string }>({
    sql: `SELECT group_key FROM ${database}.groups FINAL WHERE protocol = 'cirron' AND deleted_ns = 0
        AND group_key NOT IN (SELECT group_key FROM ${database}.cirron_components)
        AND group_key NOT IN (SELECT arrayJoin(JSONExtract(state, 'keys', 'Array(String)')) FROM ${database}.cirron_components)
      LIMIT {limit:UInt32}`,
    params: { limit },
  });
  return rows.map(({ group_key }) => group_key);
}
