// XTrack's sequence numbers of some groups: the ranges that came, and the run_starts that begin to count anew.

import type { Query, Store } from "#store/store.ts";

export interface RangeRow {
  readonly groupKey: string;
  readonly worker: string;
  readonly firstSeq: bigint;
  readonly lastSeq: bigint;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly events: number;
  readonly duplicates: number;
}

export interface StartRow {
  readonly groupKey: string;
  readonly worker: string;
  readonly tsNs: bigint;
}

export interface Sequences {
  readonly ranges: readonly RangeRow[];
  readonly starts: readonly StartRow[];
}

interface RangeText extends Omit<RangeRow, "firstSeq" | "lastSeq" | "firstNs" | "lastNs"> {
  readonly firstSeq: string;
  readonly lastSeq: string;
  readonly firstNs: string;
  readonly lastNs: string;
}

export async function readSequences(store: Store, groups: readonly string[]): Promise<Sequences> {
  const { database } = store;
  const params = { groups: [...groups] };
  const [ranges, starts] = await Promise.all([
    store.query<RangeText>({
      sql: `SELECT group_key AS groupKey, worker, first_seq AS firstSeq, last_seq AS lastSeq, first_ts_ns AS firstNs,
          last_ts_ns AS lastNs, events, duplicates
        FROM ${database}.seq_ranges FINAL WHERE group_key IN {groups:Array(String)}`,
      params,
    }),
    store.query<{ groupKey: string; worker: string; tsNs: string }>({
      sql: `SELECT DISTINCT group_key AS groupKey, worker, ts_ns AS tsNs FROM ${database}.events
        WHERE group_key IN {groups:Array(String)} AND protocol = 'xtrack' AND type = 'run_start'`,
      params,
    }),
  ]);
  return {
    ranges: ranges.map((row) => ({
      ...row,
      firstSeq: BigInt(row.firstSeq),
      lastSeq: BigInt(row.lastSeq),
      firstNs: BigInt(row.firstNs),
      lastNs: BigInt(row.lastNs),
    })),
    starts: starts.map((row) => ({ ...row, tsNs: BigInt(row.tsNs) })),
  };
}

/** When each worker was last heard of, by its own clock. */
export function workerEndsQuery(database: string, groups: readonly string[]): Query {
  return {
    sql: `SELECT toString(group_key) AS groupKey, toString(worker) AS worker, max(last_ts_ns) AS lastNs
      FROM ${database}.seq_ranges WHERE group_key IN {groups:Array(String)} GROUP BY group_key, worker`,
    params: { groups: [...groups] },
  };
}

/** The events with one of these numbers, whichever table holds them. */
export function numberedQuery(database: string, groups: readonly string[], seqs: readonly string[]): Query {
  const from = (
    table: string,
    more: string,
  ) => `SELECT toString(group_key) AS groupKey, toString(worker) AS worker, seq, ts_ns AS tsNs
      FROM ${database}.${table} WHERE group_key IN {groups:Array(String)} AND seq IN {seqs:Array(Int64)} ${more}`;
  const tables = [
    from("metrics", "AND source = 'xtrack'"),
    from("params", "AND seq >= 0"),
    from("logs", "AND stream = ''"),
    from("events", "AND protocol = 'xtrack' AND type NOT IN ('ack', 'command')"),
  ];
  return {
    sql: `SELECT DISTINCT groupKey, worker, seq, tsNs FROM (${tables.join(" UNION ALL ")})`,
    params: { groups: [...groups], seqs: seqs.map(BigInt) },
  };
}
