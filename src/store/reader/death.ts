// What a run left when it died: its last lines, its workers' last signs of life, scopes that were never closed.

import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, int, nullable, readColumn, readRows, senderNs, text } from "./native-rows.ts";

/** The last lines, the newest first. */
export function readLastLines(store: Store, groups: readonly string[], limit: number) {
  return readRows(
    store,
    { ts_ns: senderNs, worker: text, level: text, stream: text, msg: text },
    {
      sql: `SELECT ts_ns, toString(worker) AS worker, toString(level) AS level, toString(stream) AS stream, msg
        FROM ${store.database}.logs WHERE ${inGroups} ORDER BY ts_ns DESC, offset DESC, seq DESC LIMIT {limit:UInt32}`,
      params: { groups, limit },
    },
  );
}

/** What `tributary run` gathered after the end. */
export function readLeftReports(store: Store, groups: readonly string[]) {
  return readRows(
    store,
    { type: text, ts_ns: senderNs, payload: text },
    {
      sql: `SELECT toString(type) AS type, ts_ns, payload FROM ${store.database}.events
        WHERE ${inGroups} AND type IN ('error_report', 'flight_record', 'flight_record_refused') ORDER BY ts_ns LIMIT 2000`,
      params: { groups },
    },
  );
}

const signRow = { worker: text, last_ns: senderNs, last_step: nullable(big) };

/** Per worker and per rank: when it was last heard of by its own clock, and its last step. */
export function readLastSigns(store: Store, groups: readonly string[], step: string) {
  const { database } = store;
  return readRows(store, signRow, {
    sql: `SELECT worker, max(last_ns) AS last_ns, max(last_step) AS last_step FROM (
        SELECT toString(worker) AS worker, max(ts_ns) AS last_ns, max(step) AS last_step FROM ${database}.metrics
          WHERE ${inGroups} AND span_id = '' AND source != 'system' GROUP BY worker
        UNION ALL SELECT toString(worker), max(last_ts_ns), CAST(NULL, 'Nullable(Int64)') FROM ${database}.seq_ranges
          WHERE ${inGroups} GROUP BY worker
        UNION ALL SELECT toString(rank), max(end_ns), max(if(name = {step:String}, index, NULL)) FROM ${database}.spans
          WHERE ${inGroups} GROUP BY rank)
      GROUP BY worker ORDER BY last_ns, worker LIMIT 2000`,
    params: { groups, step },
  });
}

/** What each worker last said it was doing: XTrack's `status` events. */
export function readLastStatus(store: Store, groups: readonly string[]) {
  const said = (name: string) => `argMax(JSONExtractString(payload, '${name}'), (ts_ns, seq))`;
  return readRows(
    store,
    { worker: text, status: text, msg: text },
    {
      sql: `SELECT toString(worker) AS worker, ${said("status")} AS status, ${said("msg")} AS msg FROM ${store.database}.events
        WHERE ${inGroups} AND type = 'status' GROUP BY worker LIMIT 2000`,
      params: { groups },
    },
  );
}

const openRow = { id: text, rank: int, children: int, first_ns: senderNs, last_ns: senderNs, child: text };

/** Scopes that spans name as their parent and that never came. */
export function readUnclosedParents(store: Store, groups: readonly string[]) {
  const { database } = store;
  return readRows(store, openRow, {
    sql: `SELECT assumeNotNull(parent_id) AS id, any(rank) AS rank, toUInt32(count()) AS children, min(start_ns) AS first_ns,
        max(end_ns) AS last_ns, toString(argMax(name, start_ns)) AS child
      FROM ${database}.spans WHERE ${inGroups} AND isNotNull(parent_id)
        AND parent_id NOT IN (SELECT span_id FROM ${database}.spans WHERE ${inGroups})
      GROUP BY parent_id ORDER BY last_ns DESC LIMIT 100`,
    params: { groups },
  });
}

/** What each process last reported as open: JSON text of a list. */
export function readOpenSpans(store: Store, groups: readonly string[]): Promise<string[]> {
  return readColumn(store, text, {
    sql: `SELECT argMax(JSONExtractRaw(extra, 'open_spans'), created_ns) AS spans FROM ${store.database}.cirron_batches FINAL
      WHERE ${inGroups} GROUP BY group_key HAVING spans != ''`,
    params: { groups },
  });
}

/** Of these spans, those that came. */
export function readArrivedSpans(store: Store, groups: readonly string[], ids: readonly string[]): Promise<string[]> {
  const sql = `SELECT span_id FROM ${store.database}.spans WHERE ${inGroups} AND span_id IN {ids:Array(String)}`;
  return readColumn(store, text, { sql, params: { groups, ids } });
}
