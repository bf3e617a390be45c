// What several runs are compared by: each question is asked once for all of them, and every row says of which run it is.

import type { Query } from "#store/store.ts";

export interface GroupOfRun {
  readonly groupKey: string;
  readonly run: string;
}

const inGroups = "group_key IN {groups:Array(String)}";
const runOf = "transform(toString(group_key), {groups:Array(String)}, {group_runs:Array(String)}, '')";

function groupParams(groups: readonly GroupOfRun[]) {
  return { groups: groups.map(({ groupKey }) => groupKey), group_runs: groups.map(({ run }) => run) };
}

/** The last, least and greatest value of each metric, out of the summaries, which are few rows. */
export function comparedMetricsQuery(database: string, groups: readonly GroupOfRun[]): Query {
  return {
    sql: `SELECT ${runOf} AS run, toString(key) AS key, toString(phase) AS phase, argMaxMerge(last).1 AS last,
        min(min_value) AS min, max(max_value) AS max, max(nonfinite) AS has_nonfinite
      FROM ${database}.metric_summary WHERE ${inGroups} GROUP BY run, key, phase ORDER BY key, phase`,
    params: groupParams(groups),
  };
}

/** Time by span name, of Cirron spans and Semantiva nodes together. */
export function comparedSpansQuery(database: string, groups: readonly GroupOfRun[]): Query {
  return {
    sql: `SELECT run, name, toUInt32(count()) AS count, sum(wall) AS wall_ns,
        if(count(gpu) = 0, NULL, sum(gpu)) AS gpu_ns, toInt64(quantileExactLow(0.5)(wall)) AS p50_ns
      FROM (
        SELECT ${runOf} AS run, toString(name) AS name, end_ns - start_ns AS wall, gpu_ns AS gpu
        FROM ${database}.spans WHERE ${inGroups}
        UNION ALL
        SELECT ${runOf} AS run, if(processor = '', node_id, toString(processor)) AS name,
          toInt64(ifNull(wall_ms * 1000000, end_ns - start_ns)) AS wall, CAST(NULL, 'Nullable(Int64)') AS gpu
        FROM ${database}.nodes WHERE ${inGroups})
      GROUP BY run, name ORDER BY wall_ns DESC, name`,
    params: groupParams(groups),
  };
}

/** Tensors that at least two of the runs have. */
export function sharedTensorsQuery(database: string, groups: readonly GroupOfRun[]): Query {
  return {
    sql: `SELECT toString(tensor_name) AS tensor FROM ${database}.snapshots WHERE ${inGroups}
      GROUP BY tensor_name HAVING uniqExact(${runOf}) > 1 ORDER BY tensor`,
    params: groupParams(groups),
  };
}

/** What each run was first started with: the texts its environment and source are in. */
export function startTextsQuery(database: string, groups: readonly GroupOfRun[]): Query {
  return {
    sql: `SELECT run, type, argMin(payload, ts_ns) AS payload FROM (
        SELECT ${runOf} AS run, 'run_start' AS type, payload, ts_ns
        FROM ${database}.events WHERE ${inGroups} AND type = 'run_start'
        UNION ALL
        SELECT ${runOf} AS run, 'cirron.session' AS type, attrs AS payload, start_ns AS ts_ns
        FROM ${database}.spans WHERE ${inGroups} AND name = 'cirron.session')
      GROUP BY run, type`,
    params: groupParams(groups),
  };
}
