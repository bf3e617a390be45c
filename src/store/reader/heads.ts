// The facts that heads of runs are derived from: few narrow rows a run, read for a whole workspace at once or
// for chosen groups. Words that many runs share are asked for by dictionary, so that they are one text here too.

import { jsonHas, jsonRaw, jsonText } from "#store/payload-sql.ts";
import type { Query, Store } from "#store/store.ts";

/** Which groups are asked for: all of a workspace, or these. */
export type GroupScope =
  | { readonly workspace: string }
  | { readonly workspace: string; readonly groupKeys: readonly string[] };

function inScope(column: string, scope: GroupScope): string {
  return "groupKeys" in scope
    ? `${column} IN {groups:Array(String)}`
    : `startsWith(toString(${column}), {prefix:String})`;
}

function scopeParams(scope: GroupScope): Record<string, string | string[]> {
  return "groupKeys" in scope ? { groups: [...scope.groupKeys] } : { prefix: `${scope.workspace}/` };
}

export interface GroupRow {
  readonly group_key: string;
  readonly protocol: string;
  readonly run_id: string;
  readonly session_id: string;
  readonly root_kind: string;
  readonly rank: number;
  readonly forked: number;
  readonly imported: number;
  readonly pipeline_id: string | null;
  readonly deployment_id: string | null;
  readonly model_id: string | null;
  readonly min_ns: bigint | null;
  readonly max_ns: bigint | null;
  readonly max_received_ns: bigint | null;
  readonly faults: number;
  readonly duplicates: number;
  readonly missing: number;
  readonly nonfinite: number;
}

/** Points that are NaN or ±Infinity, counted only in groups whose summary says that there are any. */
function nonfiniteSql(database: string, scope: GroupScope): string {
  return `SELECT toString(m.group_key) AS group_key, count() AS nonfinite FROM ${database}.metrics AS m
        WHERE isNotNull(m.value) AND NOT isFinite(assumeNotNull(m.value)) AND m.group_key IN (
          SELECT group_key FROM ${database}.metric_summary WHERE ${inScope("group_key", scope)} AND nonfinite = 1)
        GROUP BY m.group_key`;
}

/**
 * Sequence numbers that never came, by incarnation: the run_starts of a worker cut its events by their time. A number
 * is missing when no range below the greatest one covers it, as `query/xtrack/sequences.ts` counts them one by one.
 */
function sequencesSql(database: string, scope: GroupScope): string {
  return `SELECT group_key, sum(duplicates) AS duplicates, sum(hole) AS missing FROM (
        SELECT group_key, duplicates, greatest(0, first_seq - 1 - greatest(0, max(last_seq) OVER (
          PARTITION BY group_key, worker, incarnation ORDER BY first_seq, last_seq
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))) AS hole
        FROM (SELECT toString(r.group_key) AS group_key, toString(r.worker) AS worker, r.first_seq AS first_seq,
            r.last_seq AS last_seq, r.duplicates AS duplicates,
            greatest(1, arrayCount(start -> start <= r.first_ts_ns, i.starts)) AS incarnation
          FROM (SELECT * FROM ${database}.seq_ranges FINAL WHERE ${inScope("group_key", scope)}) AS r
          LEFT JOIN (SELECT group_key, worker, groupUniqArray(ts_ns) AS starts FROM ${database}.events
            WHERE ${inScope("group_key", scope)} AND protocol = 'xtrack' AND type = 'run_start'
            GROUP BY group_key, worker) AS i ON i.group_key = r.group_key AND i.worker = r.worker))
      GROUP BY group_key`;
}

/** XTrack events that never came, of all runs. */
export async function readMissing(store: Store): Promise<number> {
  const sql = `SELECT toUInt32(sum(missing)) AS missing FROM (${sequencesSql(store.database, { workspace: "" })})`;
  const [row] = await store.query<{ missing: number }>({ sql, params: { prefix: "" } });
  return row?.missing ?? 0;
}

export function groupsQuery(database: string, scope: GroupScope): Query {
  const times = (table: string) => `SELECT group_key, min_ns, max_ns, max_received_ns FROM ${database}.${table}
      WHERE ${inScope("group_key", scope)}`;
  return {
    sql: `SELECT g.group_key AS group_key, g.protocol AS protocol, g.run_id AS run_id, toLowCardinality(g.session_id) AS session_id,
        g.root_kind AS root_kind, g.rank AS rank, g.forked AS forked, g.imported AS imported,
        g.pipeline_id AS pipeline_id, g.deployment_id AS deployment_id, g.model_id AS model_id,
        t.min_ns AS min_ns, t.max_ns AS max_ns, t.max_received_ns AS max_received_ns,
        toUInt32(f.faults) AS faults, toUInt32(s.duplicates) AS duplicates, toUInt32(s.missing) AS missing, toUInt32(n.nonfinite) AS nonfinite
      FROM (SELECT * FROM ${database}.groups FINAL WHERE ${inScope("group_key", scope)}) AS g
      LEFT JOIN (SELECT toString(group_key) AS group_key, nullIf(min(min_ns), 0) AS min_ns, nullIf(max(max_ns), 0) AS max_ns,
          toNullable(max(max_received_ns)) AS max_received_ns
        FROM (${times("group_times")} UNION ALL ${times("metric_summary")}) GROUP BY group_key) AS t
        ON t.group_key = g.group_key
      LEFT JOIN (SELECT toString(x.group_key) AS group_key, uniqExact(fault_id) AS faults FROM ${database}.faults AS x
        WHERE ${inScope("x.group_key", scope)} GROUP BY x.group_key) AS f ON f.group_key = g.group_key
      LEFT JOIN (${sequencesSql(database, scope)}) AS s ON s.group_key = g.group_key
      LEFT JOIN (${nonfiniteSql(database, scope)}) AS n ON n.group_key = g.group_key
      WHERE g.deleted_ns = 0`,
    params: scopeParams(scope),
  };
}

export interface StartRow {
  readonly group_key: string;
  readonly worker: string;
  readonly ts_ns: bigint;
  readonly name: string;
  readonly experiment: string;
  readonly parent: string;
  readonly tags: string;
  readonly host: string;
  readonly commit: string;
  readonly branch: string;
}

export function startsQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key, worker, ts_ns, ${jsonText("payload", "name")} AS name,
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

export interface EndRow {
  readonly group_key: string;
  readonly worker: string;
  readonly ts_ns: bigint;
  readonly status: string;
  readonly error_type: string;
  readonly error_message: string;
}

export function endsQuery(database: string, scope: GroupScope): Query {
  return {
    sql: `SELECT group_key, worker, ts_ns, toLowCardinality(${jsonText("payload", "status")}) AS status,
        toLowCardinality(${jsonText("payload", "error", "type")}) AS error_type,
        toLowCardinality(${jsonText("payload", "error", "message")}) AS error_message
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
      LEFT JOIN (SELECT toString(x.group_key) AS group_key, count() AS errors,
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
