// What the store knows of runs that are looked at for the first time.

import type { ServerNs } from "#base/clock.ts";
import { readFirstArrivals } from "#store/reader/track.ts";
import type { Store } from "#store/store.ts";
import { replayRun } from "./replay.ts";
import type { RunWatch } from "./run-watch.ts";
import { readSeenFirings, type SeenFirings } from "./seen-firings.ts";

/** Of each series: as many as rules look back. */
const rememberedPoints = 600;
/** Runs that are read together. */
const runsAtOnce = 64;

export interface LookedAt {
  readonly run: RunWatch;
  readonly groups: readonly string[];
}

/**
 * Reads what the store knows of runs of one workspace that are looked at for the first time: a few questions for many of
 * them, since a fleet that starts brings a thousand at once, and any question costs the engine as much as a large one.
 */
export async function rememberRuns(
  seen: SeenFirings,
  looked: readonly LookedAt[],
  keys: string,
  nowNs: ServerNs,
): Promise<void> {
  const { store } = seen;
  for (const { run, groups } of looked) run.recognise(groups);
  const fresh = await leaveStrange(
    store,
    looked.filter(({ run }) => !run.isRemembered),
  );
  for (let at = 0; at < fresh.length; at += runsAtOnce) {
    const some = fresh.slice(at, at + runsAtOnce);
    const runOfGroup = new Map(some.flatMap(({ run, groups }) => groups.map((group) => [group, run] as const)));
    const range = { groups: [...runOfGroup.keys()], keys, last: rememberedPoints };
    for await (const { group, give } of replayRun(store, range)) runOfGroup.get(group)?.recall(give);
    const runs = new Map(some.map(({ run }) => [run.runId, run]));
    const [{ run: first }] = some as [LookedAt];
    const firings = await readSeenFirings(seen, first.workspace, [...runs.keys()]);
    for (const firing of firings) runs.get(firing.runId)?.note(firing);
    for (const { run } of some) run.settle(nowNs);
  }
}

/** Runs that began while they were watched have been heard whole, and need no question. */
async function leaveStrange(store: Store, fresh: readonly LookedAt[]): Promise<LookedAt[]> {
  if (fresh.length === 0) return [];
  const arrivals = await readFirstArrivals(
    store,
    fresh.flatMap(({ groups }) => groups),
  );
  return fresh.filter(({ run, groups }) => {
    const known = groups.filter((group) => arrivals.has(group));
    if (known.length === 0 || !known.every((group) => run.hasHeardWhole(group, arrivals.get(group) as bigint)))
      return true;
    run.settleWhole();
    return false;
  });
}
