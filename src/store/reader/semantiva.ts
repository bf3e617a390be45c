// The questions about Semantiva pipelines as SQL. Over many runs the store aggregates and gives a few narrow facts a run
// or a launch; what they mean is decided by `query/semantiva`, once, for one run and for 100,000.
//
// Only idempotent aggregates are used (min, max, argMax, distinct counts): a row may stand in the store twice until its
// parts are merged. "Last" is the greatest (written time, arrival), the order of `query/semantiva/stored.ts`.

import { groupKinds, groupPrefix } from "#model/group-key.ts";
import type { Query } from "#store/store.ts";
import { ownIdSql } from "./group-scope.ts";

/** Which runs: all of a workspace, these groups, or those of a launch. */
export type PipelineScope =
  | { readonly workspace: string }
  | { readonly groupKeys: readonly string[] }
  | { readonly launchKey: string };

type Params = NonNullable<Query["params"]>;

function scopeParams(scope: PipelineScope): Params {
  if ("groupKeys" in scope) return { groups: [...scope.groupKeys] };
  return "launchKey" in scope
    ? { launch: scope.launchKey }
    : { prefix: groupPrefix(scope.workspace, groupKinds.semantivaRun) };
}

/** A condition on the group keys of runs. */
function inScope(database: string, scope: PipelineScope): string {
  if ("groupKeys" in scope) return "group_key IN {groups:Array(String)}";
  if ("workspace" in scope) return "startsWith(group_key, {prefix:String})";
  return `group_key IN (SELECT group_key FROM ${database}.lifecycle
    WHERE launch_key = {launch:String} AND type = 'pipeline_start')`;
}

/**
 * What groups are called today where that is not their own id, which stands in the key; and up to which arrival their
 * rows are deleted. Both are rare, so most runs have no row here and nothing has to be joined.
 */
export function namesSql(database: string): string {
  const isNamed = `protocol = 'semantiva' AND run_id != ${ownIdSql("group_key")}`;
  return `SELECT group_key, argMaxIf(run_id, version, ${isNamed}) AS name, max(deleted_ns) AS deleted
    FROM ${database}.groups WHERE deleted_ns != 0 OR (${isNamed}) GROUP BY group_key`;
}

const lastLine = "(timestamp, jpos, jrow)";
const nodeTime = "if(ifNull(timestamp, '') = '', started_at, assumeNotNull(timestamp))";

const terminal = "('succeeded', 'error', 'skipped', 'cancelled')";

/** The last status of the nodes of some groups: only of groups where `some` holds for a record, since it is rare. */
function lastStatusSql(database: string, scoped: string, some: string): string {
  return `SELECT group_key, node_id, argMax(toString(status), (${nodeTime}, finished_at, jpos, jrow)) AS last
    FROM ${database}.nodes WHERE group_key IN (SELECT group_key FROM ${database}.nodes WHERE ${some} AND ${scoped})
    GROUP BY group_key, node_id`;
}

/** Completeness: one row a run. `CompletenessFacts` with booleans as 0 or 1. */
export function completenessQuery(database: string, scope: PipelineScope): Query {
  const scoped = inScope(database, scope);
  return {
    sql: `WITH
  edges AS (
    SELECT group_key, max(type = 'pipeline_start') AS has_start, max(type = 'pipeline_end') AS has_end,
      minIf(timestamp, type = 'pipeline_start' AND timestamp != '') AS start_timestamp,
      maxIf(timestamp, type = 'pipeline_end') AS end_timestamp,
      arrayDistinct(argMaxIf(expected, ${lastLine}, type = 'pipeline_start')) AS expected,
      max(received_ns) AS last_received, min((jpos, jrow)) AS first_seen
    FROM ${database}.lifecycle WHERE ${scoped} AND type IN ('pipeline_start', 'pipeline_end') GROUP BY group_key),
  executed AS (
    SELECT group_key, groupUniqArray(node_id) AS observed,
      minIf(${nodeTime}, ${nodeTime} != '') AS first_time, greatest(max(${nodeTime}), max(finished_at)) AS last_time,
      max(received_ns) AS last_received, min((jpos, jrow)) AS first_seen
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
    params: scopeParams(scope),
  };
}

/** How many nodes of these groups ended in an error; groups without any are left out. `groups` is a subquery. */
export function failedNodesSql(database: string, groups: string): string {
  return `SELECT group_key, toUInt32(countIf(last = 'error')) AS nodes
    FROM (${lastStatusSql(database, `group_key IN (${groups})`, "status = 'error'")}) GROUP BY group_key`;
}

export interface LaunchPage {
  readonly workspace: string;
  readonly limit: number;
  /** The start and key of the last launch of the page before. */
  readonly after: { readonly startNs: bigint; readonly launchKey: string } | null;
}

/** Launches as their own lines describe them, the latest first; with `launchKeys` exactly these. */
export function launchesQuery(database: string, page: LaunchPage | { readonly launchKeys: readonly string[] }): Query {
  const isPage = "workspace" in page;
  const scope = isPage ? "startsWith(launch_key, {prefix:String})" : "launch_key IN {launches:Array(String)}";
  const rest =
    isPage && page.after !== null ? "WHERE (start_ns, launch_key) < ({after_ns:Int64}, {after_key:String})" : "";
  return {
    sql: `SELECT * FROM (
    SELECT toString(launch_key) AS launch_key, any(toString(launch_id)) AS launch_id, any(attempt) AS attempt,
      max(type = 'run_space_start') AS has_start, max(type = 'run_space_end') AS has_end,
      argMaxIf(toString(outcome), ${lastLine}, type = 'run_space_end') AS outcome,
      argMaxIf(planned_runs, ${lastLine}, type = 'run_space_start') AS planned_runs,
      argMaxIf(total_runs, ${lastLine}, type = 'run_space_start') AS total_runs,
      minIf(ts_ns, ts_ns != 0) AS start_ns, max(ts_ns) AS end_ns, max(received_ns) AS last_received_ns,
      toUInt32(uniqExactIf(run_index, type = 'pipeline_start')) AS indexes
    FROM ${database}.lifecycle WHERE launch_key != '' AND ${scope} GROUP BY launch_key)
  ${rest} ORDER BY start_ns DESC, launch_key DESC ${isPage ? "LIMIT {limit:UInt32}" : ""}`,
    params: isPage
      ? {
          prefix: groupPrefix(page.workspace, groupKinds.semantivaLaunch),
          limit: page.limit,
          ...(page.after === null ? {} : { after_ns: page.after.startNs, after_key: page.after.launchKey }),
        }
      : { launches: [...page.launchKeys] },
  };
}

/** The start line of each launch, the last when there are several. */
export function launchStartsQuery(database: string, launchKeys: readonly string[]): Query {
  return {
    sql: `SELECT toString(group_key) AS launch_key, argMax(payload, (ts_ns, jpos, jrow)) AS payload
FROM ${database}.events WHERE group_key IN {launches:Array(String)} AND type = 'run_space_start' GROUP BY group_key`,
    params: { launches: [...launchKeys] },
  };
}

/** The attempts that are known of a launch id. */
export function attemptsQuery(database: string, workspace: string, launchIds: readonly string[]): Query {
  return {
    sql: `SELECT toString(launch_id) AS launch_id, arraySort(groupUniqArray(assumeNotNull(attempt))) AS attempts
FROM ${database}.lifecycle
WHERE launch_key != '' AND startsWith(launch_key, {prefix:String}) AND launch_id IN {ids:Array(String)}
  AND attempt IS NOT NULL GROUP BY launch_id`,
    params: { prefix: groupPrefix(workspace, groupKinds.semantivaLaunch), ids: [...launchIds] },
  };
}

/** The lifecycle lines of groups: runs or launches. */
export function lifecycleQuery(database: string, groupKeys: readonly string[]): Query {
  return {
    sql: `SELECT group_key, type, run_id, launch_id, attempt, run_index, context, pipeline_id, semantic_id, config_id,
  expected, outcome, planned_runs, total_runs, timestamp, ts_ns, seq, event_id, jpos, jrow, received_ns
FROM ${database}.lifecycle WHERE group_key IN {groups:Array(String)} ORDER BY jpos, jrow`,
    params: { groups: [...groupKeys] },
  };
}

/** The SERs of runs, without their lines. */
export function nodesQuery(database: string, groupKeys: readonly string[]): Query {
  return {
    sql: `SELECT group_key, node_id, pipeline_id, status, timestamp, started_at, finished_at, start_ns, end_ns, wall_ms,
  cpu_ms, seq, processor, upstream, event_id, jpos, jrow, received_ns
FROM ${database}.nodes WHERE group_key IN {groups:Array(String)} ORDER BY jpos, jrow`,
    params: { groups: [...groupKeys] },
  };
}

/** The stored lines of records, by their ids. */
export function payloadsQuery(database: string, groupKeys: readonly string[], eventIds: readonly string[]): Query {
  const from = (table: string) => `SELECT event_id, payload FROM ${database}.${table}
  WHERE group_key IN {groups:Array(String)} AND event_id IN {ids:Array(String)}`;
  return {
    sql: `SELECT event_id, any(payload) AS payload FROM (${from("events")} UNION ALL ${from("nodes")}) GROUP BY event_id`,
    params: { groups: [...groupKeys], ids: [...eventIds] },
  };
}

/** What is known about the clocks of runs, one row a group. */
export function clocksQuery(database: string, groupKeys: readonly string[]): Query {
  const times = (table: string, ts: string) => `SELECT group_key, ${ts} AS ts, received_ns FROM ${database}.${table}
  WHERE group_key IN {groups:Array(String)} AND ${ts} != 0`;
  return {
    sql: `SELECT group_key, min(ts) AS first_ts_ns, max(ts) AS last_ts_ns, min(received_ns) AS first_received_ns,
  max(received_ns) AS last_received_ns, max(ts - received_ns) AS most_ahead_ns
FROM (${times("lifecycle", "ts_ns")} UNION ALL ${times("nodes", "end_ns")}) GROUP BY group_key`,
    params: { groups: [...groupKeys] },
  };
}
