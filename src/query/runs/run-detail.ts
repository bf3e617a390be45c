// Everything that is known of one run: what its head is derived from, and what its page shows beside.

import { hasTrait } from "#protocol/facts.ts";
import { type ClockNote, readClockNote } from "#query/semantiva/clock.ts";
import type { Sources } from "#query/sources.ts";
import { readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readCounts, readRunPayloads } from "#store/reader/run-details.ts";
import { type RunFacts, readRunFacts } from "#store/reader/run-facts.ts";
import { readWorkerEnds } from "#store/reader/sequences.ts";
import { readStateEvents } from "#store/reader/xtrack-state.ts";
import { type FoundRun, groupKeysOf, readNames } from "./find-run.ts";

export type { ParamCell } from "#store/reader/cells.ts";
export type { PayloadRow } from "#store/reader/run-details.ts";
export type { RunFacts } from "#store/reader/run-facts.ts";
export type { WorkerEnd } from "#store/reader/sequences.ts";

/** Null when it was deleted meanwhile. */
export async function readRunDetail(sources: Sources, workspace: string, run: FoundRun) {
  const { store } = sources;
  const groupKeys = groupKeysOf(run);
  const scope = { workspace, groupKeys };
  const withWorkers = groupKeysOf({ groups: run.groups.filter(({ protocol }) => hasTrait(protocol, "workers")) });
  const isJoined = run.groups.some((group) => group.ownRun !== run.runId);
  const [facts, params, metricCounts, payloads, counts, stateEvents, workerEnds, joined, names] = await Promise.all([
    readRunFacts(store, scope),
    readParamCells(store, scope, null),
    readMetricCounts(store, scope, null),
    readRunPayloads(store, groupKeys),
    readCounts(store, groupKeys),
    withWorkers.length === 0 ? [] : readStateEvents(store, withWorkers),
    withWorkers.length === 0 ? [] : readWorkerEnds(store, withWorkers),
    isJoined ? readJoins(store, { workspace, runs: [run.runId] }) : [],
    readNames(sources, workspace, run),
  ]);
  const mine = facts.find((one) => one.runId === run.runId);
  if (mine === undefined) return null;
  const clock: ClockNote | null = await readClockNote(store, [mine]);
  return { facts: mine, params, metricCounts, payloads, counts, stateEvents, workerEnds, clock, joined, names };
}

/** What is known of these runs, whose ids are canonical. */
export async function readFactsOfRuns(
  { store }: Sources,
  workspace: string,
  runs: readonly Pick<FoundRun, "groups">[],
): Promise<RunFacts[]> {
  return readRunFacts(store, { workspace, groupKeys: runs.flatMap(groupKeysOf) });
}
