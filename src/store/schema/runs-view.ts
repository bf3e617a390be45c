// The view `runs`: one row a run, with the status that design and API give it, computed from stored facts. Two things
// only the server knows are missing here: open connections, and another silence than ten minutes.

import { jsonText } from "#store/payload-sql.ts";
import { withTrait } from "#store/protocol-sql.ts";

/** No signal, or one that a program causes itself: that is a failure. */
const notKilled = "('', 'SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSYS', 'SIGTRAP')";
const silenceNs = "600000000000";

/** Per group: the times of its rows and when they arrived. */
function timesSql(database: string): string {
  const times = (table: string): string => `SELECT toString(group_key) AS group_key, toNullable(min_ns) AS min_ns,
      toNullable(max_ns) AS max_ns, toInt64(max_received_ns) AS max_received_ns FROM ${database}.${table}`;
  return `SELECT group_key, min(min_ns) AS min_ns, max(max_ns) AS max_ns, max(max_received_ns) AS max_received_ns
    FROM (${times("group_times")} UNION ALL ${times("metric_summary")}) GROUP BY group_key`;
}

/** Per group: what XTrack's workers and the wrapper said. An end from before a worker's latest start does not count. */
function saidSql(database: string): string {
  return `SELECT group_key,
      max(is_wrapper AND ended > 0) AS has_exit, argMaxIf(word, ended, is_wrapper) AS exit_word,
      maxIf(1, NOT is_wrapper) AS has_workers, minIf(ended >= started AND ended > 0, NOT is_wrapper) AS all_ended,
      groupUniqArrayIf(word, NOT is_wrapper) AS words, minIf(named, name != '' OR exp != '') AS began,
      argMinIf(name, (named, of_worker), name != '') AS sent_name,
      argMinIf(exp, (named, of_worker), exp != '') AS experiment
    FROM (SELECT toString(group_key) AS group_key, protocol = 'run' AS is_wrapper, toString(worker) AS of_worker,
        maxIf(ts_ns, type IN ('run_start', 'wrapper_start')) AS started,
        maxIf(ts_ns, type IN ('run_end', 'wrapper_exit')) AS ended, minIf(ts_ns, type = 'run_start') AS named,
        argMaxIf(multiIf(type = 'run_end', ${jsonText("payload", "status")}, JSONExtractString(payload, 'signal') NOT IN ${notKilled},
          'killed', JSONExtractString(payload, 'signal') = '' AND JSONExtractInt(payload, 'code') = 0, 'completed', 'failed'),
          ts_ns, type IN ('run_end', 'wrapper_exit')) AS word,
        argMinIf(${jsonText("payload", "name")}, ts_ns, type = 'run_start') AS name,
        argMinIf(${jsonText("payload", "run_id", "exp_id")}, ts_ns, type = 'run_start') AS exp
      FROM ${database}.events
      WHERE type IN ('run_start', 'run_end', 'wrapper_start', 'wrapper_exit') AND (${withTrait("protocol", "workers")} OR protocol = 'run')
      GROUP BY group_key, is_wrapper, worker)
    GROUP BY group_key`;
}

/** Per group: how a pipeline ended. */
function pipelineSql(database: string): string {
  return `SELECT toString(l.group_key) AS group_key, max(l.type = 'pipeline_end') AS has_end,
      max(l.type = 'pipeline_end' AND l.outcome NOT IN ('', 'ok')) AS bad_end,
      min(l.type != 'pipeline_end' OR l.outcome = '') AS no_outcome, max(n.errors) AS errors
    FROM ${database}.lifecycle AS l
    LEFT JOIN (SELECT group_key, toUInt8(1) AS errors FROM ${database}.nodes WHERE status = 'error' GROUP BY group_key) AS n
      ON n.group_key = l.group_key
    WHERE l.type IN ('pipeline_start', 'pipeline_end') GROUP BY group_key`;
}

const ofSessions = withTrait("g.protocol", "sessions");
const neverTold = withTrait("g.protocol", "unended");

/** The order of evidence: exit code, every worker's end, every pipeline's end, session spans, then silence. */
const statusSql = `multiIf(
    max(s.has_exit), argMaxIf(s.exit_word, t.max_ns, s.has_exit),
    max(s.has_workers) AND minIf(s.all_ended, s.has_workers),
      multiIf(has(groupArrayArray(s.words) AS words, 'failed'), 'failed',
        hasAny(words, ['killed', 'cancelled', 'canceled', 'aborted']), 'killed',
        arrayAll(word -> word = 'completed', words), 'completed', 'unknown'),
    max(p.group_key != '') AND minIf(p.has_end, p.group_key != ''),
      if(max(p.bad_end) OR max(p.no_outcome AND p.errors), 'failed', 'completed'),
    max(${ofSessions}) AND minIf(g.root_kind = 'session', ${ofSessions}), 'completed',
    maxIf(t.max_received_ns, NOT g.imported) > toUnixTimestamp64Nano(now64(9)) - ${silenceNs}, 'running',
    min(${neverTold}) OR min(g.imported) AND min(${ofSessions} OR ${neverTold}), 'unknown', 'lost')`;

export function runsView(database: string, groups: string): string {
  return `SELECT
  g.workspace AS workspace,
  g.run_id AS run_id,
  coalesce(any(e.name), argMinIf(s.sent_name, (s.began, g.group_key), s.sent_name != '')) AS name,
  ifNull(${statusSql}, 'unknown') AS status,
  arraySort(groupUniqArray(g.protocol)) AS protocols,
  argMinIf(s.experiment, (s.began, g.group_key), s.experiment != '') AS experiment,
  min(t.min_ns) AS start_ns,
  max(t.max_ns) AS last_ns,
  max(t.max_received_ns) AS last_received_ns,
  arraySort(groupUniqArrayIf(g.session_id, g.session_id != '')) AS sessions,
  minIf(g.pipeline_id, isNotNull(g.pipeline_id)) AS pipeline_id,
  minIf(g.deployment_id, isNotNull(g.deployment_id)) AS deployment_id,
  minIf(g.model_id, isNotNull(g.model_id)) AS model_id,
  any(e.archived) AS archived
FROM (${groups}) AS g
INNER JOIN (${timesSql(database)}) AS t ON t.group_key = g.group_key
LEFT JOIN (${saidSql(database)}) AS s ON s.group_key = g.group_key
LEFT JOIN (${pipelineSql(database)}) AS p ON p.group_key = g.group_key
LEFT JOIN (SELECT workspace, run_id, name, archived FROM ${database}.run_edits FINAL) AS e
  ON e.workspace = g.workspace AND e.run_id = g.run_id
WHERE g.protocol != 'launch' AND t.max_received_ns > g.deleted_ns
GROUP BY workspace, run_id`;
}
