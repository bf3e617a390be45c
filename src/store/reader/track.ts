// What rules remember of runs, read back from the store: the last points of each series, or all points of a run to try
// a rule on.

import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, float, nullable, readMap, readRows, senderNs, serverNs, streamRows, text } from "./native-rows.ts";

const pointRow = {
  group_key: text,
  key: text,
  phase: text,
  worker: text,
  step: nullable(big),
  ts_ns: senderNs,
  value: float,
};

export interface TrackRange {
  readonly groups: readonly string[];
  /** A regular expression that keys match. */
  readonly keys: string;
  /** Of each series of a group, only its last points; null for all. */
  readonly last: number | null;
  readonly limit: number;
}

/** In order of time. */
export function streamTrackPoints(store: Store, { groups, keys, last, limit }: TrackRange) {
  const columns =
    "toString(group_key) AS group_key, toString(key) AS key, toString(phase) AS phase, toString(worker) AS worker, step, ts_ns, assumeNotNull(m.value) AS value, seq, entry";
  const points = `SELECT ${columns} FROM ${store.database}.metrics AS m WHERE ${inGroups} AND isNotNull(m.value) AND match(m.key, {keys:String})`;
  const some =
    last === null ? points : `${points} ORDER BY ts_ns DESC LIMIT {last:UInt32} BY group_key, key, phase, worker`;
  return streamRows(store, pointRow, {
    sql: `SELECT group_key, key, phase, worker, step, ts_ns, value FROM (${some}) ORDER BY ts_ns, seq, entry LIMIT {limit:UInt32}`,
    params: { groups, keys, limit, ...(last === null ? {} : { last }) },
  });
}

const spanRow = {
  group_key: text,
  worker: text,
  name: text,
  index: nullable(big),
  start_ns: senderNs,
  end_ns: senderNs,
};

/** Steps and waiting inside them, in the order in which they ended. */
export function streamTrackSpans(
  store: Store,
  { groups, last, limit }: Omit<TrackRange, "keys">,
  { step, waits }: { readonly step: string; readonly waits: string },
) {
  const spans = `SELECT toString(group_key) AS group_key, toString(rank) AS worker, toString(name) AS name, index, start_ns, end_ns FROM ${store.database}.spans
    WHERE ${inGroups} AND (name = {step:String} OR match(name, {waits:String}))`;
  const some = last === null ? spans : `${spans} ORDER BY end_ns DESC LIMIT {last:UInt32} BY group_key, worker, name`;
  return streamRows(store, spanRow, {
    sql: `SELECT * FROM (${some}) ORDER BY end_ns, start_ns DESC LIMIT {limit:UInt32}`,
    params: { groups, step, waits, limit, ...(last === null ? {} : { last }) },
  });
}

/** In order of time. */
export function readCheckpoints(store: Store, groups: readonly string[]) {
  const sql = `SELECT toString(group_key) AS group_key, ts_ns FROM ${store.database}.events
    WHERE ${inGroups} AND type = 'checkpoint' ORDER BY ts_ns LIMIT 10000 BY group_key`;
  return readRows(store, { group_key: text, ts_ns: senderNs }, { sql, params: { groups } });
}

/** When the first stored record of each group arrived. */
export function readFirstArrivals(store: Store, groups: readonly string[]): Promise<Map<string, bigint>> {
  const of = (table: string) =>
    `SELECT toString(group_key) AS group_key, min_received_ns FROM ${store.database}.${table} WHERE ${inGroups}`;
  const sql = `SELECT group_key, min(min_received_ns) AS first_ns
    FROM (${of("group_times")} UNION ALL ${of("metric_summary")}) GROUP BY group_key`;
  return readMap(store, text, serverNs, { sql, params: { groups } });
}
