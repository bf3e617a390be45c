// The median step of the runs that rules name as yardsticks. It is read from the store, and seldom: such a run is usually
// over.

import type { Rule } from "#judge/rule.ts";
import { medianOf } from "#judge/statistics.ts";
import { RunTrack } from "#judge/track.ts";
import { findGroups } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import { replayRun } from "./replay.ts";
import { watchedKeys } from "./watched-keys.ts";

/** Of each series: as many as a step's median is taken over. */
const lastPoints = 600;
const readAgainNs = 60_000_000_000n;

/** By the id that a rule gives; a run without steps is missing. */
export type MedianSteps = ReadonlyMap<string, number>;

export async function readMedianSteps(
  sources: Sources,
  workspace: string,
  rules: readonly Rule[],
): Promise<MedianSteps> {
  const names = [...new Set(rules.map(({ than }) => than))].filter((name) => name !== "");
  const medians = new Map<string, number>();
  if (names.length === 0) return medians;
  for (const [name, found] of await findGroups(sources, workspace, names)) {
    const groups = found.map(({ groupKey }) => groupKey);
    // Most runs send their steps with metrics that rules look at.
    const median = (await readMedian(sources, groups, watchedKeys(rules))) ?? (await readMedian(sources, groups, ""));
    if (median !== null) medians.set(name, median);
  }
  return medians;
}

async function readMedian({ store }: Sources, groups: readonly string[], keys: string): Promise<number | null> {
  if (groups.length === 0) return null;
  const track = new RunTrack();
  for await (const { give } of replayRun(store, { groups, keys, last: lastPoints })) give(track);
  const median = medianOf([...track.steps.values()].map(({ took }) => medianOf(took.last())).filter((ns) => ns > 0));
  return median > 0 ? median : null;
}

/** Read once a minute at most. */
export class NamedSteps {
  private readonly sources: Sources;
  private readonly known = new Map<
    string,
    { readonly key: string; readonly atNs: bigint; readonly steps: MedianSteps }
  >();

  constructor(sources: Sources) {
    this.sources = sources;
  }

  async of(workspace: string, rules: readonly Rule[], nowNs: bigint): Promise<MedianSteps> {
    const key = rules.map(({ than }) => than).join("\n");
    const known = this.known.get(workspace);
    if (known !== undefined && known.key === key && nowNs - known.atNs < readAgainNs) return known.steps;
    const steps = await readMedianSteps(this.sources, workspace, rules);
    this.known.set(workspace, { key, atNs: nowNs, steps });
    return steps;
  }
}
