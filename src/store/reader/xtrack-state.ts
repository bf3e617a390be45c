// The events that tell the state of an XTrack run: its starts and ends, and of each worker the last checkpoint that it
// called best.

import { jsonBool } from "#store/payload-sql.ts";
import type { Store } from "#store/store.ts";
import { smallMembers } from "./cut-text.ts";
import { inGroups } from "./group-scope.ts";
import { big, type RowOf, readRows, senderNs, serverNs, text } from "./native-rows.ts";

/** `payload` is the strict JSON of `p`. */
const stateEvent = {
  groupKey: text,
  worker: text,
  type: text,
  seq: big,
  tsNs: senderNs,
  receivedNs: serverNs,
  payload: text,
};
export type StateEvent = RowOf<typeof stateEvent>;

/** If a run has more starts, only the latest are read. */
const startsMax = 10_000;

export function readStateEvents(store: Store, groups: readonly string[]): Promise<StateEvent[]> {
  const columns = `toString(group_key) AS groupKey, toString(worker) AS worker, toString(type) AS type, seq,
    ts_ns AS tsNs, received_ns AS receivedNs, ${smallMembers("e.payload", ["env", "source", "error"])} AS payload`;
  const from = `FROM ${store.database}.events AS e WHERE ${inGroups} AND protocol = 'xtrack'`;
  return readRows(store, stateEvent, {
    sql: `SELECT * FROM (SELECT ${columns} ${from} AND type IN ('run_start', 'run_end')
          ORDER BY ts_ns DESC LIMIT ${startsMax})
      UNION ALL SELECT * FROM (SELECT ${columns} ${from} AND type = 'checkpoint'
          AND ${jsonBool("e.payload", "is_best")} ORDER BY ts_ns DESC, seq DESC LIMIT 1 BY group_key, worker)`,
    params: { groups },
  });
}

/** The answers to some commands, from the groups whose keys have a prefix. */
export function readAnswers(store: Store, prefix: string, commands: readonly string[]) {
  const word = (name: string): string => `JSONExtractString(payload, '${name}')`;
  return readRows(
    store,
    { cmd_id: text, worker: text, status: text, error: text },
    {
      sql: `SELECT ${word("cmd_id")} AS cmd_id, toString(worker) AS worker, ${word("status")} AS status,
          ${word("error")} AS error
        FROM ${store.database}.events
        WHERE startsWith(toString(group_key), {prefix:String}) AND type = 'ack' AND cmd_id IN {commands:Array(String)}`,
      params: { prefix, commands },
    },
  );
}
