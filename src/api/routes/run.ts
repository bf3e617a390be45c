// GET /runs/<id>: one run with everything its head can say.

import { type ApiContext, ofRun, type Route } from "#api/context.ts";
import type { Run, Worker } from "#api/contract/run.ts";
import { type JsonBody, toExactJson } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { compare } from "#base/compare-text.ts";
import type { JsonObject } from "#base/json/value.ts";
import { hasTrait } from "#protocol/facts.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import { type HeadContext, toRunHead } from "#query/runs/head.ts";
import { type RunRow, toRunRow } from "#query/runs/row.ts";
import { endText, type RunFacts, readRunDetail, startText, type WorkerEnd } from "#query/runs/run-detail.ts";
import { environmentOf, objectOf, parseObject, toParams, toResource } from "./run-environment.ts";
import { toSummary } from "./runs.ts";
import { toXtrackState } from "./xtrack-state.ts";

export const runRoute: Route<"run"> = ofRun(async (context, { asOf, run: resolved, caller }) => {
  return answerRun(context, caller.workspace, resolved, asOf);
});

export async function answerRun(...question: Parameters<typeof readRun>): Promise<JsonBody> {
  return toExactJson<Run>(await readRun(...question));
}

export async function readRun(context: ApiContext, workspace: string, resolved: FoundRun, asOf: string): Promise<Run> {
  const detail = await readRunDetail(context.sources, workspace, resolved);
  if (detail === null) throw new Refusal("run_not_found", `The run ${resolved.runId} was deleted.`);
  const { facts: mine, stateEvents, clock } = detail;
  const head = context.head();
  const row = toRunRow(mine, head);
  const start = parseObject(startText(stateEvents));
  const end = parseObject(endText(mine, stateEvents));
  return {
    ...toSummary({ row, cells: [] }),
    name_sent: row.head.name,
    notes: mine.edit?.notes ?? "",
    aliases: detail.names.slice(1),
    also: [...resolved.also],
    params: toParams(detail.params, groupKeysOf(resolved)),
    ...environmentOf(start, parseObject(detail.session), toResource(detail.params, mine.groups)),
    error_detail: toError(row, end),
    worker_list: toWorkers(mine, head, detail.workerEnds),
    notes_on_data: [...notesOnData(mine, detail.paramsCutAt), ...(clock === null ? [] : [clock.message])],
    counts: toCounts(detail.counts, mine, detail.metricCounts),
    ...toXtrackState(stateEvents),
    joined: detail.joined.map(({ run_id, author, version }) => ({ id: run_id, by: author, at_ns: `${version}` })),
    edits: toEdits(mine),
    as_of: asOf,
  };
}

function toError({ head }: RunRow, end: JsonObject): Run["error_detail"] {
  const { errorType, errorMessage } = head;
  if (errorType === "" && errorMessage === "") return null;
  const traceback = objectOf(end["error"])["traceback"];
  return { type: errorType, message: errorMessage, traceback: typeof traceback === "string" ? traceback : "" };
}

function toWorkers(facts: RunFacts, head: HeadContext, ends: readonly WorkerEnd[]): Worker[] {
  const whole = toRunHead(facts, head).status;
  const xtrack = Map.groupBy(facts.starts, (start) => start.worker);
  const workers = [...xtrack].map(([worker, starts]): Worker => {
    const group = facts.groups.find((one) => one.groupKey === starts[0]?.groupKey);
    const lastNs = ends.find((end) => end.groupKey === group?.groupKey && end.worker === worker)?.lastNs;
    const mine = { ...facts, starts, ends: facts.ends.filter((end) => end.worker === worker), wrappers: [] };
    return {
      worker,
      rank: null,
      pid: null,
      host: starts[0]?.host ?? "",
      status: toRunHead(mine, head).status,
      connected: group !== undefined && head.isConnected(group.groupKey),
      first_ns: starts[0]?.tsNs.toString() ?? null,
      last_ns: lastNs ?? group?.lastNs?.toString() ?? null,
      incarnations: starts.length,
    };
  });
  const sessions = facts.groups.filter((group) => hasTrait(group.protocol, "sessions"));
  const ranks = Map.groupBy(sessions, (group) => group.rank);
  return [
    ...workers,
    ...[...ranks].map(([rank, groups]): Worker => {
      const times = groups.flatMap((group) => (group.firstNs === null ? [] : [group.firstNs]));
      const ends = groups.flatMap((group) => (group.lastNs === null ? [] : [group.lastNs]));
      return {
        worker: String(rank),
        rank,
        pid: null,
        host: "",
        status: whole === "running" ? rankStatus(facts, groups, head) : whole,
        connected: false,
        first_ns: times.toSorted(compare)[0]?.toString() ?? null,
        last_ns: ends.toSorted(compare).at(-1)?.toString() ?? null,
        incarnations: new Set(groups.map((group) => group.sessionId)).size,
      };
    }),
  ];
}

/** A process says nothing of its end but by its session span; while the run goes on, silence decides. */
function rankStatus(facts: RunFacts, groups: RunFacts["groups"], head: HeadContext): Worker["status"] {
  return toRunHead({ ...facts, groups, starts: [], ends: [], wrappers: [], pipelines: [] }, head).status;
}

/** Sentences a reader of this run should know. */
function notesOnData(facts: RunFacts, paramsCutAt: number | null): string[] {
  const notes: string[] = [];
  if (paramsCutAt !== null)
    notes.push(`Only the first ${paramsCutAt} params by name are shown here; /params has all of them.`);
  const sessions = facts.groups.filter((group) => hasTrait(group.protocol, "sessions"));
  if (sessions.some((group) => group.rootKind !== "session"))
    notes.push(
      "The session span has not arrived: the process did not call shutdown(), or its last batch stayed in the spool.",
    );
  if (sessions.some((group) => group.forked))
    notes.push(
      "The same rows arrived in two batches: the process forked, or its rows were sent again. They count once.",
    );
  if (facts.groups.some((group) => group.imported)) notes.push("Some of this run was imported from files.");
  return notes;
}

function toCounts(
  counts: Record<string, number>,
  facts: RunFacts,
  metrics: readonly { key: string; phase: string; count: number }[],
): Run["counts"] {
  const of = (name: string): number => counts[name] ?? 0;
  return {
    metrics: new Set(metrics.map((metric) => `${metric.key}@${metric.phase}`)).size,
    points: metrics.reduce((sum, metric) => sum + metric.count, 0),
    spans: of("spans"),
    marks: of("marks"),
    nodes: of("nodes"),
    snapshots: of("snapshots"),
    logs: of("logs"),
    artifacts: of("artifact"),
    checkpoints: of("checkpoint"),
    events: of("events"),
    faults: facts.groups.reduce((sum, group) => sum + group.faults, 0),
    missing: facts.missing,
    duplicates: facts.groups.reduce((sum, group) => sum + group.duplicates, 0),
    commands: of("commands"),
  };
}

function toEdits(facts: RunFacts): Run["edits"] {
  const { edit } = facts;
  if (edit === null) return [];
  const by = edit.author;
  const at_ns = edit.atNs.toString();
  const fields: [string, unknown][] = [
    ["name", edit.name],
    ["notes", edit.notes],
    ["tags", edit.tags === "" ? null : (JSON.parse(edit.tags) as unknown)],
    ["archived", edit.archived ? true : null],
  ];
  return fields
    .filter(([, value]) => value !== null)
    .map(([field, value]) => ({ field, value: JSON.stringify(value), by, at_ns }));
}
