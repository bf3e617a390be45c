// The facts that heads of runs are derived from: a few narrow rows a run, read for a whole workspace at once or for
// chosen groups. Words that many runs share are read as dictionaries, so that each is one text here too.

import type { SenderNs } from "#base/clock.ts";
import { joinedGroups } from "#store/joined-groups.ts";
import { jsonMembers, jsonText } from "#store/payload-sql.ts";
import { withTrait } from "#store/protocol-sql.ts";
import type { Store } from "#store/store.ts";
import { type GroupScope, inScope, scopeParams } from "./group-scope.ts";
import { big, flag, int, nullable, type RowOf, readRows, senderNs, text } from "./native-rows.ts";
import { placeOrder } from "./record-place.ts";

/** One XTrack run_start. `tags` is strict JSON text, '' when absent. */
const startFact = {
  groupKey: text,
  worker: text,
  tsNs: senderNs,
  name: text,
  experiment: text,
  parent: text,
  tags: text,
  host: text,
  commit: text,
  branch: text,
};
export type StartFact = RowOf<typeof startFact>;

const payload = jsonMembers("payload");

/** The events of a type, each with its payload to be read. */
function eventsOf({ database }: Store, scope: GroupScope, type: string): string {
  return `(SELECT group_key, worker, ts_ns, seq, ${payload.columns} FROM ${database}.events
    WHERE ${inScope("group_key", scope)} AND ${withTrait("protocol", "workers")} AND type = '${type}')`;
}

export function readStarts(store: Store, scope: GroupScope): Promise<StartFact[]> {
  return readRows(store, startFact, {
    sql: `SELECT group_key AS groupKey, worker, ts_ns AS tsNs, ${payload.text("name")} AS name,
        toLowCardinality(${payload.text("run_id", "exp_id")}) AS experiment,
        toLowCardinality(${payload.text("run_id", "parent_id")}) AS parent,
        toLowCardinality(${payload.raw("tags")}) AS tags,
        toLowCardinality(${payload.text("env", "hostname")}) AS host,
        toLowCardinality(${payload.text("source", "git_commit")}) AS commit,
        toLowCardinality(${payload.text("source", "git_branch")}) AS branch
      FROM ${eventsOf(store, scope, "run_start")} ORDER BY group_key, ts_ns, worker`,
    params: scopeParams(scope),
  });
}

/** One XTrack run_end. */
const endFact = { groupKey: text, worker: text, tsNs: senderNs, status: text, errorType: text, errorMessage: text };
export type EndFact = RowOf<typeof endFact>;

export function readEnds(store: Store, scope: GroupScope): Promise<EndFact[]> {
  return readRows(store, endFact, {
    sql: `SELECT group_key AS groupKey, worker, ts_ns AS tsNs,
        toLowCardinality(${payload.text("status")}) AS status,
        toLowCardinality(${payload.text("error", "type")}) AS errorType,
        toLowCardinality(${payload.text("error", "message")}) AS errorMessage
      FROM ${eventsOf(store, scope, "run_end")} ORDER BY group_key, ts_ns, worker`,
    params: scopeParams(scope),
  });
}

/** The last XTrack status event of a worker. `progress` is strict JSON text, '' when absent. */
const statusFact = { groupKey: text, worker: text, tsNs: senderNs, status: text, message: text, progress: text };
export type StatusFact = RowOf<typeof statusFact>;

/** The last status of each worker, with the last progress that any had. */
export function readStatuses(store: Store, scope: GroupScope): Promise<StatusFact[]> {
  const progress = `argMaxIf(${payload.raw("progress")}, (e.ts_ns, e.seq), ${payload.has("progress")})`;
  return readRows(store, statusFact, {
    sql: `SELECT group_key AS groupKey, worker, max(e.ts_ns) AS tsNs,
        toLowCardinality(argMax(${payload.text("status")}, (e.ts_ns, e.seq))) AS status,
        argMax(${payload.text("msg")}, (e.ts_ns, e.seq)) AS message,
        if((${progress} AS last_progress) = 'null', '', last_progress) AS progress
      FROM ${eventsOf(store, scope, "status")} AS e GROUP BY group_key, worker ORDER BY group_key, worker`,
    params: scopeParams(scope),
  });
}

/** Semantiva's pipeline lines of a run, and its place in a launch. */
const pipelineFact = {
  groupKey: text,
  hasStart: flag,
  hasEnd: flag,
  startNs: senderNs,
  endNs: senderNs,
  /** summary.status of pipeline_end, '' when there is none. */
  outcome: text,
  launchId: text,
  attempt: nullable(big),
  index: nullable(big),
  nodeErrors: int,
  nodeError: text,
};
export type PipelineFact = RowOf<typeof pipelineFact>;

export function readPipelineFacts(store: Store, scope: GroupScope): Promise<PipelineFact[]> {
  const { database } = store;
  return readRows(store, pipelineFact, {
    sql: `SELECT l.group_key AS groupKey, l.has_start AS hasStart, l.has_end AS hasEnd, l.start_ns AS startNs,
        l.end_ns AS endNs, toLowCardinality(l.outcome) AS outcome, toLowCardinality(l.launch_id) AS launchId,
        l.attempt AS attempt, l.run_index AS index, toUInt32(n.errors) AS nodeErrors, n.error AS nodeError FROM (
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
          argMax(${jsonText("payload", "error", "message")}, (${placeOrder})) AS error
        FROM ${database}.nodes AS x WHERE ${inScope("x.group_key", scope)} AND status = 'error' GROUP BY x.group_key) AS n
        ON n.group_key = l.group_key`,
    params: scopeParams(scope),
  });
}

/** What `tributary run` saw of the process. */
export interface WrapperFact {
  readonly groupKey: string;
  readonly startNs: SenderNs;
  /** Null while the process runs. */
  readonly endNs: SenderNs | null;
  readonly exitCode: number | null;
  readonly signal: string;
  readonly name: string;
}

const wrapperRow = { groupKey: text, startNs: senderNs, endNs: nullable(senderNs), exit: text, start: text };

export async function readWrappers(store: Store, scope: GroupScope): Promise<WrapperFact[]> {
  const rows = await readRows(store, wrapperRow, {
    sql: `SELECT group_key AS groupKey, minIf(ts_ns, type = 'wrapper_start') AS startNs,
        nullIf(maxIf(ts_ns, type = 'wrapper_exit'), 0) AS endNs,
        argMaxIf(payload, ts_ns, type = 'wrapper_exit') AS exit,
        argMinIf(payload, ts_ns, type = 'wrapper_start') AS start
      FROM ${store.database}.events WHERE ${inScope("group_key", scope)} AND protocol = 'run' GROUP BY group_key`,
    params: scopeParams(scope),
  });
  return rows.map(({ exit, start, ...row }) => {
    const { code, signal } = parseObject(exit);
    const { name } = parseObject(start);
    return {
      ...row,
      exitCode: typeof code === "number" ? code : null,
      signal: typeof signal === "string" ? signal : "",
      name: typeof name === "string" ? name : "",
    };
  });
}

function parseObject(json: string): { readonly code?: unknown; readonly signal?: unknown; readonly name?: unknown } {
  return json === "" ? {} : (JSON.parse(json) as object);
}

/** What people changed about a run. `tags` is JSON array text, '' when they were not edited. */
const editFact = {
  runId: text,
  name: nullable(text),
  notes: nullable(text),
  tags: text,
  archived: flag,
  author: text,
  atNs: big,
};
export type EditFact = RowOf<typeof editFact>;

export function readEdits(store: Store, scope: GroupScope): Promise<EditFact[]> {
  const { database } = store;
  const only = `AND run_id IN (SELECT run_id FROM ${joinedGroups(database)} WHERE ${inScope("group_key", scope)})`;
  return readRows(store, editFact, {
    sql: `SELECT run_id AS runId, name, notes, tags, archived, author, version AS atNs FROM ${database}.run_edits FINAL
      WHERE workspace = {workspace:String} ${"groupKeys" in scope ? only : ""}`,
    params: { workspace: scope.workspace, ...scopeParams(scope) },
  });
}
