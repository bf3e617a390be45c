// The facts that heads of runs are derived from: few narrow rows a run, read for a whole workspace at once or
// for chosen groups. Words that many runs share are asked for by dictionary, so that they are one text here too.

import { jsonHas, jsonRaw, jsonText } from "#store/payload-sql.ts";
import type { Query } from "#store/store.ts";
import { type GroupScope, inScope, scopeParams } from "./group-scope.ts";

/** Rows are `StartFact`s. */
export function startsQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key AS groupKey, worker, ts_ns AS tsNs, ${jsonText("payload", "name")} AS name,
        toLowCardinality(${jsonText("payload", "run_id", "exp_id")}) AS experiment,
        toLowCardinality(${jsonText("payload", "run_id", "parent_id")}) AS parent,
        toLowCardinality(${jsonRaw("payload", "tags")}) AS tags,
        toLowCardinality(${jsonText("payload", "env", "hostname")}) AS host,
        toLowCardinality(${jsonText("payload", "source", "git_commit")}) AS commit,
        toLowCardinality(${jsonText("payload", "source", "git_branch")}) AS branch
      FROM ${database}.events WHERE ${inScope("group_key", scope)} AND protocol = 'xtrack' AND type = 'run_start'
      ORDER BY group_key, ts_ns, worker`,
    params: scopeParams(scope),
  };
}

/** Rows are `EndFact`s. */
export function endsQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key AS groupKey, worker, ts_ns AS tsNs,
        toLowCardinality(${jsonText("payload", "status")}) AS status,
        toLowCardinality(${jsonText("payload", "error", "type")}) AS errorType,
        toLowCardinality(${jsonText("payload", "error", "message")}) AS errorMessage
      FROM ${database}.events WHERE ${inScope("group_key", scope)} AND protocol = 'xtrack' AND type = 'run_end'
      ORDER BY group_key, ts_ns, worker`,
    params: scopeParams(scope),
  };
}

export interface StatusRow {
  readonly group_key: string;
  readonly worker: string;
  readonly ts_ns: bigint;
  readonly status: string;
  readonly message: string;
  readonly progress: string;
}

/** The last status of each worker, and the last that had progress. */
export function statusesQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key, worker, max(e.ts_ns) AS ts_ns,
        toLowCardinality(argMax(${jsonText("payload", "status")}, (e.ts_ns, e.seq))) AS status,
        argMax(${jsonText("payload", "msg")}, (e.ts_ns, e.seq)) AS message,
        argMaxIf(${jsonRaw("payload", "progress")}, (e.ts_ns, e.seq), ${jsonHas("payload", "progress")}) AS progress
      FROM ${database}.events AS e WHERE ${inScope("group_key", scope)} AND protocol = 'xtrack' AND type = 'status'
      GROUP BY group_key, worker ORDER BY group_key, worker`,
    params: scopeParams(scope),
  };
}

export interface PipelineRow {
  readonly group_key: string;
  readonly has_start: number;
  readonly has_end: number;
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly outcome: string;
  readonly launch_id: string;
  readonly attempt: bigint | null;
  readonly run_index: bigint | null;
  readonly errors: number;
  readonly error: string;
}

export function pipelinesQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT l.group_key AS group_key, l.has_start AS has_start, l.has_end AS has_end, l.start_ns AS start_ns,
        l.end_ns AS end_ns, toLowCardinality(l.outcome) AS outcome, toLowCardinality(l.launch_id) AS launch_id,
        l.attempt AS attempt, l.run_index AS run_index, toUInt32(n.errors) AS errors, n.error AS error FROM (
        SELECT toString(c.group_key) AS group_key, max(type = 'pipeline_start') AS has_start,
          max(type = 'pipeline_end') AS has_end,
          minIf(ts_ns, type = 'pipeline_start') AS start_ns, maxIf(ts_ns, type = 'pipeline_end') AS end_ns,
          argMaxIf(toString(c.outcome), ts_ns, type = 'pipeline_end') AS outcome,
          argMaxIf(toString(c.launch_id), ts_ns, c.launch_id != '') AS launch_id,
          argMaxIf(tuple(c.attempt), ts_ns, c.launch_id != '').1 AS attempt,
          argMaxIf(tuple(c.run_index), ts_ns, c.launch_id != '').1 AS run_index
        FROM ${database}.lifecycle AS c
        WHERE ${inScope("c.group_key", scope)} AND type IN ('pipeline_start', 'pipeline_end') GROUP BY c.group_key) AS l
      LEFT JOIN (SELECT toString(x.group_key) AS group_key, uniqExact(x.event_id) AS errors,
          argMax(${jsonText("payload", "error", "message")}, jpos) AS error
        FROM ${database}.nodes AS x WHERE ${inScope("x.group_key", scope)} AND status = 'error' GROUP BY x.group_key) AS n
        ON n.group_key = l.group_key`,
    params: scopeParams(scope),
  };
}

export interface WrapperRow {
  readonly group_key: string;
  readonly start_ns: bigint;
  readonly end_ns: bigint | null;
  readonly exit: string;
  readonly start: string;
}

export function wrappersQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key, minIf(ts_ns, type = 'wrapper_start') AS start_ns,
        nullIf(maxIf(ts_ns, type = 'wrapper_exit'), 0) AS end_ns,
        argMaxIf(payload, ts_ns, type = 'wrapper_exit') AS exit,
        argMinIf(payload, ts_ns, type = 'wrapper_start') AS start
      FROM ${database}.events WHERE ${inScope("group_key", scope)} AND protocol = 'run' GROUP BY group_key`,
    params: scopeParams(scope),
  };
}

export interface EditRow {
  readonly run_id: string;
  readonly name: string | null;
  readonly notes: string | null;
  readonly tags: string;
  readonly archived: number;
  readonly author: string;
  readonly version: bigint;
}

export function editsQuery(database: string, scope: GroupScope): Query {
  const only = `AND run_id IN (SELECT run_id FROM ${database}.groups FINAL WHERE ${inScope("group_key", scope)})`;
  return {
    sql: `SELECT run_id, name, notes, tags, archived, author, version FROM ${database}.run_edits FINAL
      WHERE workspace = {workspace:String} ${"groupKeys" in scope ? only : ""}`,
    params: { workspace: scope.workspace, ...scopeParams(scope) },
  };
}

/** The groups that an id or alias leads to, with what each is called today. */
export function resolveQuery(database: string, workspace: string, ids: readonly string[]): Query {
  return {
    sql: `SELECT a.alias AS alias, g.group_key AS group_key, g.run_id AS run_id, t.last AS last
      FROM (SELECT alias, group_key FROM ${database}.aliases FINAL
          WHERE workspace = {workspace:String} AND alias IN {ids:Array(String)}
        UNION DISTINCT SELECT run_id AS alias, group_key FROM ${database}.groups FINAL
          WHERE workspace = {workspace:String} AND run_id IN {ids:Array(String)}) AS a
      INNER JOIN (SELECT group_key, run_id FROM ${database}.groups FINAL
        WHERE workspace = {workspace:String} AND protocol != 'launch' AND deleted_ns = 0) AS g ON g.group_key = a.group_key
      LEFT JOIN (SELECT toString(group_key) AS group_key, max(min_ns) AS last FROM ${database}.group_times
        GROUP BY group_key) AS t ON t.group_key = g.group_key`,
    params: { workspace, ids: [...ids] },
  };
}

/** Every group of these runs. */
export function groupsOfRunsQuery(database: string, workspace: string, runs: readonly string[]): Query {
  return {
    sql: `SELECT group_key, run_id, protocol, rank FROM ${database}.groups FINAL
      WHERE workspace = {workspace:String} AND run_id IN {runs:Array(String)} AND protocol != 'launch' AND deleted_ns = 0
      ORDER BY group_key`,
    params: { workspace, runs: [...runs] },
  };
}
