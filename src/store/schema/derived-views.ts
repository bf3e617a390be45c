// Views that are derived rather than stored: launches and gaps.

import { withTrait } from "#store/protocol-sql.ts";

/** One row for each run of a launch; a launch without runs has one with run_id ''. */
export function launchesView(database: string): string {
  return `SELECT
  l.launch_id AS launch_id,
  l.attempt AS attempt,
  r.run_id AS run_id,
  r.run_index AS run_index,
  r.context AS context,
  r.outcome AS run_outcome,
  l.planned_runs AS planned_runs,
  l.has_start AS has_start,
  l.has_end AS has_end,
  l.outcome AS outcome,
  l.start_ns AS start_ns,
  l.end_ns AS end_ns
FROM (SELECT toString(launch_key) AS launch_key, toString(any(launch_id)) AS launch_id, any(attempt) AS attempt,
    maxIf(planned_runs, type = 'run_space_start') AS planned_runs,
    max(type = 'run_space_start') AS has_start, max(type = 'run_space_end') AS has_end,
    toString(anyIf(outcome, type = 'run_space_end')) AS outcome,
    minIf(ts_ns, type = 'run_space_start') AS start_ns, maxIf(ts_ns, type = 'run_space_end') AS end_ns
  FROM ${database}.lifecycle WHERE launch_key != '' GROUP BY launch_key) AS l
LEFT JOIN (SELECT s.launch_key AS launch_key, s.run_id AS run_id, s.run_index AS run_index, s.context AS context,
    e.outcome AS outcome
  FROM (SELECT toString(launch_key) AS launch_key, toString(group_key) AS group_key, any(run_id) AS run_id,
      max(run_index) AS run_index, anyIf(context, context != '') AS context
    FROM ${database}.lifecycle WHERE launch_key != '' AND type = 'pipeline_start' GROUP BY launch_key, group_key) AS s
  LEFT JOIN (SELECT toString(group_key) AS group_key, argMax(toString(outcome), (timestamp, received_ns, collector, jpos, jrow)) AS outcome
    FROM ${database}.lifecycle WHERE launch_key = '' AND type = 'pipeline_end' GROUP BY group_key) AS e
    ON e.group_key = s.group_key) AS r ON r.launch_key = l.launch_key`;
}

/**
 * Sequence numbers that never arrived. The run_starts of a worker cut its events into incarnations, each counting
 * from 1; events from before the first start belong to the first.
 */
export function gapsView(database: string, groups: string): string {
  return `SELECT run_id, worker, incarnation, before + 1 AS first_seq, first - 1 AS last_seq, first - before - 1 AS missing
FROM (SELECT run_id, worker, incarnation, first_seq AS first,
    greatest(0, max(last_seq) OVER (PARTITION BY group_key, worker, incarnation ORDER BY first_seq, last_seq
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS before
  FROM (SELECT g.run_id AS run_id, toString(r.group_key) AS group_key, toString(r.worker) AS worker, r.first_seq AS first_seq,
      r.last_seq AS last_seq, greatest(1, arrayCount(start -> start <= r.first_ts_ns, i.starts)) AS incarnation
    FROM ${database}.seq_ranges AS r
    INNER JOIN (${groups}) AS g ON g.group_key = r.group_key
    LEFT JOIN (SELECT group_key, worker, groupUniqArray(ts_ns) AS starts FROM ${database}.events
      WHERE ${withTrait("protocol", "workers")} AND type = 'run_start' GROUP BY group_key, worker) AS i
      ON i.group_key = r.group_key AND i.worker = r.worker
    WHERE r.received_ns > g.deleted_ns))
WHERE first > before + 1`;
}
