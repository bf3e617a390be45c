// What intake must know again when it starts: which rows, lines and batches are stored, and under which keys.

import type { Query, Store } from "#store/store.ts";

export interface StoredSpan {
  readonly group_key: string;
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly pid: string | null;
  readonly thread_id: string | null;
  readonly rank: number;
  /** Only of session spans; '' for the others. */
  readonly attrs: string;
  readonly content_hash: number;
}

export interface StoredLeaf {
  readonly group_key: string;
  readonly id: string;
  readonly span_id: string;
  readonly ts_ns: string;
  readonly content_hash: number;
}

export interface StoredBatchRow {
  readonly workspace: string;
  readonly batch_id: string;
  readonly source: string;
  readonly content_hash: string;
  readonly group_key: string;
  readonly run_override: string;
}

/** Rows of one Cirron group come together, since every answer is sorted by the group's key. */
export function readStoredSpans(store: Store): AsyncIterable<StoredSpan> {
  return readObjects(store, {
    sql: `SELECT group_key, span_id, parent_id, name, start_ns, end_ns, pid, thread_id, rank,
        if(name = 'cirron.session', attrs, '') AS attrs, content_hash
      FROM ${store.database}.spans ORDER BY group_key`,
  });
}

export function readStoredMarks(store: Store): AsyncIterable<StoredLeaf> {
  return readObjects(store, {
    sql: `SELECT group_key, mark_id AS id, span_id, ts_ns, content_hash FROM ${store.database}.marks ORDER BY group_key`,
  });
}

export function readStoredSnapshots(store: Store): AsyncIterable<StoredLeaf> {
  return readObjects(store, {
    sql: `SELECT group_key, snapshot_id AS id, span_id, ts_ns, content_hash
      FROM ${store.database}.snapshots ORDER BY group_key`,
  });
}

export function readStoredBatches(store: Store): Promise<StoredBatchRow[]> {
  return store.query({
    sql: `SELECT workspace, batch_id, source, content_hash, group_key, run_override
      FROM ${store.database}.cirron_batches FINAL`,
  });
}

/** Identities of Semantiva lines and of faults: 32 hex each, with the workspace they belong to. */
export function readStoredLines(store: Store): AsyncIterable<{ readonly workspace: string; readonly id: string }> {
  const { database } = store;
  return readObjects(store, {
    sql: `SELECT workspace, id FROM (
        SELECT splitByChar('/', toString(group_key))[1] AS workspace, event_id AS id FROM ${database}.events
          WHERE protocol = 'semantiva'
        UNION ALL SELECT splitByChar('/', toString(group_key))[1], event_id FROM ${database}.nodes
        UNION ALL SELECT toString(workspace), fault_id FROM ${database}.faults)`,
  });
}

/** What tells one XTrack event of a group from another. */
export function readEventIdentities(
  store: Store,
  groupKey: string,
): AsyncIterable<{ readonly worker: string; readonly seq: string; readonly ts_ns: string }> {
  const from = (table: string, more = "") =>
    `SELECT worker, seq, ts_ns FROM ${store.database}.${table} WHERE group_key = {group:String} ${more}`;
  const control = "type IN ('ack', 'command')";
  return readObjects(store, {
    sql: `SELECT DISTINCT worker, seq, ts_ns FROM (${from("metrics")} UNION ALL ${from("params")}
      UNION ALL ${from("logs", "AND stream = ''")} UNION ALL ${from("events", `AND NOT ${control}`)}
      UNION ALL SELECT concat(worker, '\\0control'), seq, ts_ns FROM ${store.database}.events
        WHERE group_key = {group:String} AND ${control})`,
    params: { group: groupKey },
  });
}

/** Captured output: what tells one line from another. */
export function readCapturedLines(
  store: Store,
): AsyncIterable<{ readonly group_key: string; readonly stream: string; readonly offset: string }> {
  return readObjects(store, {
    sql: `SELECT group_key, stream, offset FROM ${store.database}.logs WHERE stream != ''`,
  });
}

export function readStateRows<T>(store: Store, table: string): Promise<T[]> {
  return store.query<T>({ sql: `SELECT * FROM ${store.database}.${table} FINAL` });
}

async function* readObjects<T>(store: Store, query: Query): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of store.stream(query, { format: "objects" })) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) yield JSON.parse(line) as T;
  }
  if (rest !== "") yield JSON.parse(rest) as T;
}
