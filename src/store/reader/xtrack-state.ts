// The events that say how a run of XTrack goes: its starts and ends, and of each worker the last checkpoint that it
// called best and the last status with a progress.

import { jsonBool, jsonHas } from "#store/payload-sql.ts";
import type { Store } from "#store/store.ts";

export interface StateRow {
  readonly groupKey: string;
  readonly worker: string;
  readonly type: string;
  readonly seq: bigint;
  readonly tsNs: bigint;
  readonly receivedNs: bigint;
  readonly payload: string;
}

interface StateText extends Omit<StateRow, "seq" | "tsNs" | "receivedNs"> {
  readonly seq: string;
  readonly tsNs: string;
  readonly receivedNs: string;
}

/** A run that is started over more often than this shows its latest ones. */
const startsMax = 10_000;

export async function readStateEvents(store: Store, groups: readonly string[]): Promise<StateRow[]> {
  const columns = `toString(group_key) AS groupKey, toString(worker) AS worker, toString(type) AS type, seq,
    ts_ns AS tsNs, received_ns AS receivedNs, payload`;
  const from = `FROM ${store.database}.events WHERE group_key IN {groups:Array(String)} AND protocol = 'xtrack'`;
  const rows = await store.query<StateText>({
    sql: `SELECT * FROM (SELECT ${columns} ${from} AND type IN ('run_start', 'run_end')
          ORDER BY ts_ns DESC LIMIT ${startsMax})
      UNION ALL SELECT * FROM (SELECT ${columns} ${from} AND type = 'checkpoint'
          AND ${jsonBool("payload", "is_best")} ORDER BY ts_ns DESC, seq DESC LIMIT 1 BY group_key, worker)
      UNION ALL SELECT * FROM (SELECT ${columns} ${from} AND type = 'status'
          AND ${jsonHas("payload", "progress", "cur")} ORDER BY ts_ns DESC, seq DESC LIMIT 1 BY group_key, worker)`,
    params: { groups: [...groups] },
  });
  return rows.map((row) => ({
    ...row,
    seq: BigInt(row.seq),
    tsNs: BigInt(row.tsNs),
    receivedNs: BigInt(row.receivedNs),
  }));
}
