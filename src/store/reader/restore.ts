// What intake must know again when it starts: which rows, lines and batches are stored, and under which keys.

import type { DecodedBlock } from "#store/native/decode-block.ts";
import type { Query, ReadOptions, Store } from "#store/store.ts";
import { workspaceSql } from "./group-scope.ts";
import { readNativeBlocks } from "./native-rows.ts";

export interface StoredBatchRow {
  readonly workspace: string;
  readonly batch_id: string;
  readonly source: string;
  readonly content_hash: string;
  readonly group_key: string;
  readonly run_override: string;
}

/** Which of the stored rows: those of these groups that came at these times. */
export interface Arrivals {
  readonly groupKeys: readonly string[];
  readonly receivedNs: readonly bigint[];
}

const arrived = "WHERE group_key IN {groups:Array(String)} AND received_ns IN {times:Array(Int64)}";

/** What stands for an absent number in the blocks below. */
export const absentNumber: bigint = -(2n ** 63n);

/** Stored spans, all or some, as blocks: a store may hold millions. Only the names that grouping looks at are told. */
export function readStoredSpans(store: Store, only: Arrivals | null): Promise<DecodedBlock[]> {
  return readBlocks(
    store,
    `SELECT group_key, span_id, toUInt8(isNull(s.parent_id)) AS no_parent, ifNull(s.parent_id, '') AS parent_id,
        toLowCardinality(if(s.name IN ('epoch', 'cirron.session'), toString(s.name), '')) AS name, start_ns, end_ns,
        ifNull(s.pid, toInt64(${absentNumber})) AS pid, ifNull(s.thread_id, toInt64(${absentNumber})) AS thread_id, rank,
        if(s.name = 'cirron.session', s.attrs, '') AS attrs, content_hash
      FROM ${store.database}.spans AS s`,
    only,
  );
}

export function readStoredMarks(store: Store, only: Arrivals | null): Promise<DecodedBlock[]> {
  const columns = "group_key, mark_id AS id, span_id, ts_ns, content_hash";
  return readBlocks(store, `SELECT ${columns} FROM ${store.database}.marks`, only);
}

export function readStoredSnapshots(store: Store, only: Arrivals | null): Promise<DecodedBlock[]> {
  const columns = "group_key, snapshot_id AS id, span_id, ts_ns, content_hash";
  return readBlocks(store, `SELECT ${columns} FROM ${store.database}.snapshots`, only);
}

function readBlocks(store: Store, select: string, only: Arrivals | null): Promise<DecodedBlock[]> {
  const sql = only === null ? select : `${select} ${arrived}`;
  return readNativeBlocks(store, { sql, params: arrivalParams(only) });
}

function arrivalParams(only: Arrivals | null): NonNullable<Query["params"]> {
  return only === null ? {} : { groups: only.groupKeys, times: only.receivedNs };
}

/** Of a batch that two collectors took, all rows while they are apart: `FINAL` would show the later one alone. */
export function readStoredBatches(store: Store, only: Arrivals | null): Promise<StoredBatchRow[]> {
  return store.query({
    sql: `SELECT workspace, batch_id, source, content_hash, group_key, run_override
      FROM ${store.database}.cirron_batches ${only === null ? "FINAL" : arrived}`,
    params: arrivalParams(only),
  });
}

/** The batches that came since, wherever they were taken. */
export function readRecentBatches(
  store: Store,
  sinceNs: bigint,
): Promise<{ readonly batch_id: string; readonly group_key: string; readonly received_ns: string }[]> {
  return store.query({
    sql: `SELECT batch_id, group_key, received_ns FROM ${store.database}.cirron_batches
      WHERE received_ns > {since:Int64}`,
    params: { since: sinceNs },
  });
}

/** Identities of Semantiva lines and of faults: 32 hex each, with the workspace they belong to. */
export function readStoredLines(store: Store): AsyncIterable<{ readonly workspace: string; readonly id: string }> {
  const { database } = store;
  return readObjects(store, {
    sql: `SELECT workspace, id FROM (
        SELECT ${workspaceSql("toString(group_key)")} AS workspace, event_id AS id FROM ${database}.events
          WHERE protocol = 'semantiva'
        UNION ALL SELECT ${workspaceSql("toString(group_key)")}, event_id FROM ${database}.nodes
        UNION ALL SELECT toString(workspace), fault_id FROM ${database}.faults)`,
  });
}

/** What tells one XTrack event of a group from another. */
export function readEventIdentities(
  store: Store,
  groupKey: string,
  options: ReadOptions = {},
): AsyncIterable<{ readonly worker: string; readonly seq: string; readonly ts_ns: string }> {
  const from = (table: string, more = "") =>
    `SELECT worker, seq, ts_ns FROM ${store.database}.${table} WHERE group_key = {group:String} ${more}`;
  const control = "type IN ('ack', 'command')";
  return readObjects(
    store,
    {
      sql: `SELECT DISTINCT worker, seq, ts_ns FROM (${from("metrics")} UNION ALL ${from("params")}
      UNION ALL ${from("logs", "AND stream = ''")} UNION ALL ${from("events", `AND NOT ${control}`)}
      UNION ALL SELECT concat(worker, '\\0control'), seq, ts_ns FROM ${store.database}.events
        WHERE group_key = {group:String} AND ${control})`,
      params: { group: groupKey },
    },
    options,
  );
}

/** Captured output: what tells one line from another. */
export function readCapturedLines(
  store: Store,
): AsyncIterable<{ readonly group_key: string; readonly stream: string; readonly offset: string }> {
  return readObjects(store, {
    sql: `SELECT group_key, stream, offset FROM ${store.database}.logs WHERE stream != ''`,
  });
}

/** The groups that a collector has written to; none for one that has its store alone. */
export async function readWritten(store: Store, collector: string | undefined): Promise<string[]> {
  if (collector === undefined) return [];
  const rows = await store.query<{ group_key: string }>({
    sql: `SELECT DISTINCT group_key FROM ${store.database}.writers WHERE collector = {collector:String}`,
    params: { collector },
  });
  return rows.map((row) => row.group_key);
}

/** The newest rows of these groups in one of the small tables that have a group for their key. */
export function readGroupRows<T>(store: Store, table: "groups" | "aliases", keys: readonly string[]): Promise<T[]> {
  return store.query<T>({
    sql: `SELECT * FROM ${store.database}.${table} FINAL WHERE group_key IN {groups:Array(String)}`,
    params: { groups: keys },
  });
}

/** The newest rows of a small table, all of them or those whose time is later. */
export function readStateRows<T>(
  store: Store,
  table: string,
  only?: { readonly column: string; readonly sinceNs: bigint },
): Promise<T[]> {
  const all = `SELECT * FROM ${store.database}.${table} FINAL`;
  if (only === undefined) return store.query<T>({ sql: all });
  return store.query<T>({ sql: `${all} WHERE ${only.column} > {since:Int64}`, params: { since: only.sinceNs } });
}

async function* readObjects<T>(store: Store, query: Query, options: ReadOptions = {}): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of store.stream(query, { ...options, format: "objects" })) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) yield JSON.parse(line) as T;
  }
  if (rest !== "") yield JSON.parse(rest) as T;
}
