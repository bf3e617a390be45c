// The XTrack sequence numbers of some groups: the ranges that arrived, and the run_starts that restart the count.

import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, decimal, int, type RowOf, readRows, senderNs, text } from "./native-rows.ts";

/** One stored row of neighbouring numbers. */
const seqRange = {
  groupKey: text,
  worker: text,
  firstSeq: big,
  lastSeq: big,
  firstNs: senderNs,
  lastNs: senderNs,
  events: int,
  duplicates: int,
};
export type SeqRange = RowOf<typeof seqRange>;

const workerStart = { groupKey: text, worker: text, tsNs: senderNs };
export type WorkerStart = RowOf<typeof workerStart>;

export function readSeqRanges(store: Store, groups: readonly string[]): Promise<SeqRange[]> {
  return readRows(store, seqRange, {
    sql: `SELECT group_key AS groupKey, worker, first_seq AS firstSeq, last_seq AS lastSeq, first_ts_ns AS firstNs,
        last_ts_ns AS lastNs, events, duplicates
      FROM ${store.database}.seq_ranges FINAL WHERE ${inGroups}`,
    params: { groups },
  });
}

export function readWorkerStarts(store: Store, groups: readonly string[]): Promise<WorkerStart[]> {
  return readRows(store, workerStart, {
    sql: `SELECT DISTINCT group_key AS groupKey, worker, ts_ns AS tsNs FROM ${store.database}.events
      WHERE ${inGroups} AND ${withTrait("protocol", "workers")} AND type = 'run_start'`,
    params: { groups },
  });
}

const workerEnd = { groupKey: text, worker: text, lastNs: decimal };
export type WorkerEnd = RowOf<typeof workerEnd>;

/** When each worker was last heard of, by its own clock. */
export function readWorkerEnds(store: Store, groups: readonly string[]): Promise<WorkerEnd[]> {
  return readRows(store, workerEnd, {
    sql: `SELECT toString(group_key) AS groupKey, toString(worker) AS worker, max(last_ts_ns) AS lastNs
      FROM ${store.database}.seq_ranges WHERE ${inGroups} GROUP BY group_key, worker`,
    params: { groups },
  });
}

const numberedEvent = { groupKey: text, worker: text, seq: decimal, ts_ns: decimal };
export type NumberedEvent = RowOf<typeof numberedEvent>;

/** Every event with one of these numbers, once, whichever table holds it. */
export function readNumbered(
  store: Store,
  groups: readonly string[],
  seqs: readonly string[],
): Promise<NumberedEvent[]> {
  const from = (
    table: string,
    more: string,
  ) => `SELECT toString(group_key) AS groupKey, toString(worker) AS worker, seq, ts_ns
      FROM ${store.database}.${table} WHERE ${inGroups} AND seq IN {seqs:Array(Int64)} ${more}`;
  const tables = [
    from("metrics", `AND ${withTrait("source", "workers")}`),
    from("params", "AND seq >= 0"),
    from("logs", "AND stream = ''"),
    from("events", `AND ${withTrait("protocol", "workers")} AND type NOT IN ('ack', 'command')`),
  ];
  return readRows(store, numberedEvent, {
    sql: `SELECT DISTINCT groupKey, worker, seq, ts_ns FROM (${tables.join(" UNION ALL ")})`,
    params: { groups, seqs: seqs.map(BigInt) },
  });
}
