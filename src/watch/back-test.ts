// A rule tried on runs that are stored: where it would have fired. The same functions decide as for runs that go on.

import { type Rule, ruleKinds } from "#judge/rule.ts";
import { lookFor, type Signal } from "#judge/signals.ts";
import { RunTrack } from "#judge/track.ts";
import type { HeadContext } from "#query/runs/head.ts";
import type { Sources } from "#query/sources.ts";
import { type MedianSteps, readMedianSteps } from "./named-steps.ts";
import { replayRun } from "./replay.ts";
import { lookAtTable } from "./table-rules.ts";
import { watchedKeys } from "./watched-keys.ts";

export interface TriedRun {
  readonly runId: string;
  readonly groups: readonly string[];
}

export interface TriedRule {
  readonly runId: string;
  readonly rule: string;
  /** Null: it would not have fired. */
  readonly signal: Signal | null;
}

/** Points between two looks: a live run is looked at about as often. */
const pointsBetween = 16;
/** After a longer pause by the run's own clock it is looked at before it goes on. */
const pauseNs = 1_000_000_000n;

/** By run, then by rule; runs that a rule is not about are left out. */
export async function tryRules(
  sources: Sources,
  workspace: string,
  runs: readonly TriedRun[],
  rules: readonly Rule[],
  context: HeadContext,
): Promise<TriedRule[]> {
  const ids = runs.map(({ runId }) => runId);
  const groups = runs.flatMap((run) => run.groups);
  const table = await lookAtTable(sources, workspace, { ids, groups }, rules, context);
  const steps = await readMedianSteps(sources, workspace, rules);
  const tried: TriedRule[] = [];
  for (const run of runs) {
    const sight = table.get(run.runId);
    const mine = rules.filter((rule) => sight?.about.has(rule.name) === true);
    const tracked = mine.filter((rule) => ruleKinds[rule.kind].source === "track");
    const found = await tryTracked(sources, run.groups, tracked, steps);
    for (const { name } of mine)
      tried.push({ runId: run.runId, rule: name, signal: found.get(name) ?? sight?.signals.get(name) ?? null });
  }
  return tried;
}

/** The first time each would have fired. */
async function tryTracked(
  { store }: Pick<Sources, "store">,
  groups: readonly string[],
  rules: readonly Rule[],
  steps: MedianSteps,
): Promise<Map<string, Signal>> {
  const found = new Map<string, Signal>();
  if (rules.length === 0) return found;
  const track = new RunTrack();
  const sinceNs = new Map<string, bigint>();
  const look = (nowNs: bigint): void => {
    for (const rule of rules) {
      if (found.has(rule.name)) continue;
      const signal = lookFor(rule)?.(track, rule, { nowNs, isAlive: true, steps }) ?? null;
      if (signal === null) sinceNs.delete(rule.name);
      else {
        const since = sinceNs.get(rule.name) ?? nowNs;
        sinceNs.set(rule.name, since);
        if (nowNs - since >= BigInt(rule.forMs) * 1_000_000n) found.set(rule.name, signal);
      }
    }
    track.looked();
  };
  let lastNs: bigint | null = null;
  let waiting = 0;
  for await (const { tsNs, give } of replayRun(store, { groups, keys: watchedKeys(rules), last: null })) {
    if (waiting >= pointsBetween || (lastNs !== null && tsNs - lastNs > pauseNs)) {
      look(tsNs);
      waiting = 0;
    }
    give(track);
    waiting++;
    lastNs = tsNs;
    if (found.size === rules.length) return found;
  }
  if (lastNs !== null) look(lastNs);
  return found;
}
