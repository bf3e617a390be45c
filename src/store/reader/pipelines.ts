// Facts about Semantiva pipelines, from which nothing is concluded yet. Rows are named as their columns are.

import { groupKinds, groupPrefix } from "#model/group-key.ts";
import type { Store } from "#store/store.ts";
import { inGroups, ownIdSql } from "./group-scope.ts";
import {
  big,
  count,
  flag,
  int,
  list,
  nullable,
  type RowOf,
  readMap,
  readRows,
  senderNs,
  serverNs,
  text,
} from "./native-rows.ts";
import { placeOrder } from "./record-place.ts";
import { lastLine, lastStatusSql, namesSql, nodeTime, terminal } from "./semantiva.ts";

/** What the completeness of a run depends on. */
const completenessFacts = {
  run_id: text,
  has_start: flag,
  has_end: flag,
  /** The earliest time of a start line and the latest of an end line, as written; '' for none. */
  start_timestamp: text,
  end_timestamp: text,
  /** The earliest and latest time in the run's SERs; '' for none. */
  first_node_timestamp: text,
  last_node_timestamp: text,
  /** Distinct nodes: that the spec names, that were seen, and both. */
  expected: int,
  observed: int,
  matched: int,
  missing_nodes: list(text),
  orphan_nodes: list(text),
  /** Their last status is none of succeeded, error, skipped, cancelled. */
  nonterminal_nodes: list(text),
};
export type CompletenessFacts = RowOf<typeof completenessFacts>;

/** Of every run of a workspace. */
export function readCompleteness(store: Store, workspace: string): Promise<CompletenessFacts[]> {
  const { database } = store;
  const scoped = "startsWith(group_key, {prefix:String})";
  return readRows(store, completenessFacts, {
    sql: `WITH
  edges AS (
    SELECT group_key, max(type = 'pipeline_start') AS has_start, max(type = 'pipeline_end') AS has_end,
      minIf(timestamp, type = 'pipeline_start' AND timestamp != '') AS start_timestamp,
      maxIf(timestamp, type = 'pipeline_end') AS end_timestamp,
      arrayDistinct(argMaxIf(expected, ${lastLine}, type = 'pipeline_start')) AS expected,
      max(received_ns) AS last_received, min((${placeOrder})) AS first_seen
    FROM ${database}.lifecycle WHERE ${scoped} AND type IN ('pipeline_start', 'pipeline_end') GROUP BY group_key),
  executed AS (
    SELECT group_key, groupUniqArray(node_id) AS observed,
      minIf(${nodeTime}, ${nodeTime} != '') AS first_time, greatest(max(${nodeTime}), max(finished_at)) AS last_time,
      max(received_ns) AS last_received, min((${placeOrder})) AS first_seen
    FROM ${database}.nodes WHERE ${scoped} GROUP BY group_key),
  unsettled AS (
    SELECT group_key, groupArrayIf(node_id, last NOT IN ${terminal}) AS nodes
    FROM (${lastStatusSql(database, scoped, `status NOT IN ${terminal}`)}) GROUP BY group_key),
  runs AS (
    SELECT group_key, e.has_start AS has_start, e.has_end AS has_end, e.start_timestamp AS start_timestamp,
      e.end_timestamp AS end_timestamp, n.first_time AS first_node_timestamp, n.last_time AS last_node_timestamp,
      e.expected AS expected, n.observed AS observed, greatest(e.last_received, n.last_received) AS last_received,
      if(e.first_seen.1 = 0, n.first_seen, if(n.first_seen.1 = 0, e.first_seen, least(e.first_seen, n.first_seen)))
        AS first_seen
    FROM edges AS e FULL JOIN executed AS n USING (group_key))
SELECT if(g.name = '', ${ownIdSql("toString(l.group_key)")}, g.name) AS run_id, l.has_start AS has_start,
  l.has_end AS has_end, l.start_timestamp AS start_timestamp, l.end_timestamp AS end_timestamp,
  l.first_node_timestamp AS first_node_timestamp, l.last_node_timestamp AS last_node_timestamp,
  toUInt32(length(l.expected)) AS expected, toUInt32(length(l.observed)) AS observed,
  toUInt32(length(arrayIntersect(l.expected, l.observed))) AS matched,
  arrayFilter(id -> NOT has(l.observed, id), l.expected) AS missing_nodes,
  arrayFilter(id -> NOT has(l.expected, id), l.observed) AS orphan_nodes, u.nodes AS nonterminal_nodes
FROM runs AS l
LEFT JOIN (${namesSql(database)}) AS g ON g.group_key = toString(l.group_key)
LEFT JOIN unsettled AS u ON u.group_key = l.group_key
WHERE l.last_received > g.deleted ORDER BY l.first_seen, run_id`,
    params: { prefix: groupPrefix(workspace, groupKinds.semantivaRun) },
  });
}

/** The order of arrival. */
const arrived = { event_id: text, received_ns: serverNs, collector: text, jpos: count, jrow: int };

/** A lifecycle line. */
const lifecycleRow = {
  group_key: text,
  type: text,
  run_id: text,
  launch_id: text,
  attempt: nullable(count),
  run_index: nullable(count),
  /** Strict JSON with sorted keys, '' for none. */
  context: text,
  pipeline_id: text,
  semantic_id: text,
  config_id: text,
  expected: list(text),
  outcome: text,
  planned_runs: nullable(count),
  total_runs: nullable(count),
  /** '' when absent. */
  timestamp: text,
  ts_ns: senderNs,
  seq: nullable(count),
  ...arrived,
};
export type LifecycleRow = RowOf<typeof lifecycleRow>;

/** The lifecycle lines of groups: runs or launches. */
export function readLifecycle(store: Store, groups: readonly string[]): Promise<LifecycleRow[]> {
  return readRows(store, lifecycleRow, {
    sql: `SELECT ${Object.keys(lifecycleRow).join(", ")}
      FROM ${store.database}.lifecycle WHERE ${inGroups} ORDER BY ${placeOrder}`,
    params: { groups },
  });
}

/** A SER, without its line. */
const nodeRow = {
  group_key: text,
  node_id: text,
  pipeline_id: text,
  status: text,
  /** The header's own time; the driver writes none. */
  timestamp: nullable(text),
  started_at: text,
  finished_at: text,
  start_ns: senderNs,
  end_ns: senderNs,
  wall_ms: nullable(count),
  cpu_ms: nullable(count),
  seq: nullable(count),
  processor: text,
  upstream: list(text),
  ...arrived,
};
export type NodeRow = RowOf<typeof nodeRow>;

export function readNodes(store: Store, groups: readonly string[]): Promise<NodeRow[]> {
  return readRows(store, nodeRow, {
    sql: `SELECT ${Object.keys(nodeRow).join(", ")}
      FROM ${store.database}.nodes WHERE ${inGroups} ORDER BY ${placeOrder}`,
    params: { groups },
  });
}

/** Stored lines by event id. */
export async function readPayloads(
  store: Store,
  groups: readonly string[],
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const from = (table: string) => `SELECT event_id, payload FROM ${store.database}.${table}
    WHERE ${inGroups} AND event_id IN {ids:Array(String)}`;
  return readMap(store, text, text, {
    sql: `SELECT event_id, any(payload) AS line FROM (${from("events")} UNION ALL ${from("nodes")}) GROUP BY event_id`,
    params: { groups, ids },
  });
}

/** What is known about a run's clock: written and arrival times of its records, the extremes of each. */
const clockRow = {
  group_key: text,
  first_ts_ns: senderNs,
  last_ts_ns: senderNs,
  first_received_ns: serverNs,
  last_received_ns: serverNs,
  /** The greatest (written − arrival) of any record. */
  most_ahead_ns: big,
};
export type ClockFacts = Omit<RowOf<typeof clockRow>, "group_key">;

/** By group key. */
export async function readClocks(store: Store, groups: readonly string[]): Promise<Map<string, ClockFacts>> {
  const times = (table: string, ts: string) => `SELECT group_key, ${ts} AS ts, received_ns
    FROM ${store.database}.${table} WHERE ${inGroups} AND ${ts} != 0`;
  const rows = await readRows(store, clockRow, {
    sql: `SELECT group_key, min(ts) AS first_ts_ns, max(ts) AS last_ts_ns, min(received_ns) AS first_received_ns,
        max(received_ns) AS last_received_ns, max(ts - received_ns) AS most_ahead_ns
      FROM (${times("lifecycle", "ts_ns")} UNION ALL ${times("nodes", "end_ns")}) GROUP BY group_key`,
    params: { groups },
  });
  return new Map(rows.map(({ group_key, ...clock }) => [group_key, clock]));
}
