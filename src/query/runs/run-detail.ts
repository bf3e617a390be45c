// Everything that is known of one run: what its head is derived from, and what its page shows beside.

import { hasTrait } from "#protocol/facts.ts";
import { readClockNote } from "#query/semantiva/clock.ts";
import type { Sources } from "#query/sources.ts";
import { type ParamCell, paramsMax, readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readCounts, readSessionText } from "#store/reader/run-details.ts";
import { type RunFacts, readRunFacts } from "#store/reader/run-facts.ts";
import { readWorkerEnds } from "#store/reader/sequences.ts";
import { readStateEvents, type StateEvent } from "#store/reader/xtrack-state.ts";
import { type FoundRun, groupKeysOf, readNames } from "./find-run.ts";
import { decidingEnd } from "./head.ts";

export type { RunFacts } from "#store/reader/run-facts.ts";
export type { WorkerEnd } from "#store/reader/sequences.ts";
export type { ParamCell };
export { readJoins };

/** Null when it was deleted meanwhile. */
export async function readRunDetail(sources: Sources, workspace: string, run: FoundRun) {
  const { store } = sources;
  const groupKeys = groupKeysOf(run);
  const scope = { workspace, groupKeys };
  const withTrait = (trait: Parameters<typeof hasTrait>[1]): string[] =>
    groupKeysOf({ groups: run.groups.filter(({ protocol }) => hasTrait(protocol, trait)) });
  const [withWorkers, withSessions] = [withTrait("workers"), withTrait("sessions")];
  const isJoined = run.groups.some((group) => group.ownRun !== run.runId);
  const [facts, params, metricCounts, session, counts, stateEvents, workerEnds, joined, names] = await Promise.all([
    readRunFacts(store, scope),
    readParamCells(store, scope, null),
    readMetricCounts(store, scope, null),
    withSessions.length === 0 ? "" : readSessionText(store, withSessions),
    readCounts(store, groupKeys),
    withWorkers.length === 0 ? [] : readStateEvents(store, withWorkers),
    withWorkers.length === 0 ? [] : readWorkerEnds(store, withWorkers),
    isJoined ? readJoins(store, { workspace, runs: [run.runId] }) : [],
    readNames(sources, workspace, run),
  ]);
  const mine = facts.find((one) => one.runId === run.runId);
  if (mine === undefined) return null;
  const clock = await readClockNote(store, [mine]);
  return {
    facts: mine,
    params,
    paramsCutAt: findCut(params),
    metricCounts,
    session,
    counts,
    stateEvents,
    workerEnds,
    clock,
    joined,
    names,
  };
}

/** How many params of a group were read, if it may have more. */
function findCut(params: readonly ParamCell[]): number | null {
  if (params.length < paramsMax) return null;
  const isCut = [...Map.groupBy(params, ({ groupKey }) => groupKey).values()].some((own) => own.length >= paramsMax);
  return isCut ? paramsMax : null;
}

/** What the run was first started with, as JSON text; '' when no start came. */
export function startText(events: readonly StateEvent[]): string {
  let first: StateEvent | null = null;
  for (const event of events)
    if (event.type === "run_start" && (first === null || event.tsNs < first.tsNs)) first = event;
  return first?.payload ?? "";
}

/** What the worker that decided how the run ended said of its end; '' when none did. */
export function endText(facts: RunFacts, events: readonly StateEvent[]): string {
  const end = decidingEnd(facts);
  if (end === null) return "";
  const { groupKey, worker, tsNs } = end;
  const isIt = (event: StateEvent): boolean =>
    event.type === "run_end" && event.groupKey === groupKey && event.worker === worker && event.tsNs === tsNs;
  return events.find(isIt)?.payload ?? "";
}

/** What is known of these runs, whose ids are canonical. */
export async function readFactsOfRuns(
  { store }: Sources,
  workspace: string,
  runs: readonly Pick<FoundRun, "groups">[],
): Promise<RunFacts[]> {
  return readRunFacts(store, { workspace, groupKeys: runs.flatMap(groupKeysOf) });
}
