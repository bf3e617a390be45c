// Everything that is known of one run: what its head is derived from, and what its page shows beside.

import { type ClockNote, readClockNote } from "#query/semantiva/clock.ts";
import type { Sources } from "#query/sources.ts";
import { readMetricCounts, readParamCells } from "#store/reader/cells.ts";
import { readJoins } from "#store/reader/joins.ts";
import { readCounts, readRunPayloads } from "#store/reader/run-details.ts";
import { type RunFacts, readRunFacts } from "#store/reader/run-facts.ts";
import { readWorkerEnds } from "#store/reader/sequences.ts";
import { readStateEvents } from "#store/reader/xtrack-state.ts";
import { type FoundRun, groupKeysOf } from "./find-run.ts";

export type { ParamCell } from "#store/reader/cells.ts";
export type { PayloadRow } from "#store/reader/run-details.ts";
export type { RunFacts } from "#store/reader/run-facts.ts";
export type { WorkerEnd } from "#store/reader/sequences.ts";

/** Null when it was deleted meanwhile. */
export async function readRunDetail({ store }: Sources, workspace: string, run: FoundRun) {
  const groupKeys = groupKeysOf(run);
  const scope = { workspace, groupKeys };
  const [facts, params, metricCounts, payloads, counts, stateEvents, workerEnds, joined] = await Promise.all([
    readRunFacts(store, scope),
    readParamCells(store, scope, null),
    readMetricCounts(store, scope, null),
    readRunPayloads(store, groupKeys),
    readCounts(store, groupKeys),
    readStateEvents(store, groupKeys),
    readWorkerEnds(store, groupKeys),
    readJoins(store, { workspace, runs: [run.runId] }),
  ]);
  const mine = facts.find((one) => one.runId === run.runId);
  if (mine === undefined) return null;
  const clock: ClockNote | null = await readClockNote(store, [mine]);
  return { facts: mine, params, metricCounts, payloads, counts, stateEvents, workerEnds, clock, joined };
}

/** What is known of these runs, whose ids are canonical. */
export async function readFactsOfRuns(
  { store }: Sources,
  workspace: string,
  runs: readonly Pick<FoundRun, "groups">[],
): Promise<RunFacts[]> {
  return readRunFacts(store, { workspace, groupKeys: runs.flatMap(groupKeysOf) });
}
