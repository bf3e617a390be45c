// Runs in portions that are asked for together: a sweep has many runs with few records each, and every question costs the
// engine more than such a run's rows.

import { started } from "#base/started.ts";
import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import { readLaunchesOf } from "#store/reader/export-records.ts";
import { type RecordRow, readGroupSizes, streamRunRecords } from "#store/reader/record-rows.ts";
import type { Store } from "#store/store.ts";
import { isTooMuch, readInStretches, rowsAtOnce } from "./read-in-stretches.ts";

export interface ExportedRun {
  readonly run: FoundRun;
  readonly own: readonly string[];
  /** Its own, and the launches that no run before it had. */
  readonly groups: readonly string[];
}

export type Portion = readonly ExportedRun[];

/** How many runs and groups are looked up at once; a run may have more groups by itself. */
const lookedUp = { runs: 256, groups: 8192 };

/** Several runs if they have few rows together, else one. `launches` collects those that were given to a run. */
export async function* inPortions(
  store: Store,
  runs: Iterable<FoundRun>,
  launches: Set<string>,
): AsyncGenerator<Portion> {
  for (const some of inLots(runs)) {
    const exported = await withLaunches(store, some, launches);
    const groups = exported.flatMap((run) => run.groups);
    const rowsOf = await readGroupSizes(store, groups);
    let portion: ExportedRun[] = [];
    let held = 0;
    for (const run of exported) {
      const rows = run.groups.reduce((sum, key) => sum + (rowsOf.get(key) ?? 0), 0);
      if (portion.length > 0 && held + rows > rowsAtOnce) {
        yield portion;
        portion = [];
        held = 0;
      }
      portion.push(run);
      held += rows;
    }
    yield portion;
  }
}

function* inLots(runs: Iterable<FoundRun>): Generator<FoundRun[]> {
  let lot: FoundRun[] = [];
  let groups = 0;
  for (const run of runs) {
    if (lot.length > 0 && (lot.length === lookedUp.runs || groups + run.groups.length > lookedUp.groups)) {
      yield lot;
      lot = [];
      groups = 0;
    }
    lot.push(run);
    groups += run.groups.length;
  }
  if (lot.length > 0) yield lot;
}

async function withLaunches(store: Store, runs: readonly FoundRun[], launches: Set<string>): Promise<ExportedRun[]> {
  const found = await readLaunchesOf(store, runs.flatMap(groupKeysOf));
  const launchesOf = Map.groupBy(found, (row) => row.group_key);
  return runs.map((run) => {
    const own = groupKeysOf(run);
    const named = new Set(own.flatMap((key) => launchesOf.get(key) ?? []).map((row) => row.launch_key));
    const fresh = [...named].sort().filter((key) => !launches.has(key));
    for (const key of fresh) launches.add(key);
    return { run, own, groups: [...own, ...fresh] };
  });
}

/** Its rows, one run after the other, each in the order of arrival. */
export async function* readPortion(store: Store, portion: Portion): AsyncGenerator<RecordRow> {
  const several = portion.filter(({ groups }) => groups.length > 0).length > 1;
  const rows = several ? await readTogether(store, portion) : null;
  if (rows === null)
    for (const { groups } of portion) for await (const stretch of readInStretches(store, groups)) yield* stretch;
  else yield* rows;
}

/** Null if that is too much for the engine: few rows may have hundreds of megabytes. */
async function readTogether(store: Store, portion: Portion): Promise<AsyncIterable<RecordRow> | null> {
  const groups = portion.map((run) => run.groups);
  try {
    // They are sorted before the first one comes.
    return await started(streamRunRecords(store, groups));
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return null;
  }
}
