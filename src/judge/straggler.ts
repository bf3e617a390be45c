// A rank that is nearly always slower than the others. One slow stretch does not count.

import type { RankWindow, RunEvidence } from "./evidence.ts";
import { type Finding, ofWholeRun } from "./finding.ts";
import { medianOf } from "./statistics.ts";
import { capital, sayNumber, sayShare, sayTime, sayWorker } from "./words.ts";

export interface StragglerLimits {
  readonly factor: number;
  readonly share: number;
  readonly windowsMin: number;
}

export const stragglerLimits: StragglerLimits = { factor: 1.25, share: 0.8, windowsMin: 5 };
const stepsInWindowMin = 3;

export interface Straggler {
  readonly worker: string;
  readonly windows: number;
  readonly slowWindows: number;
  /** Medians over the windows. */
  readonly meanNs: number;
  readonly othersNs: number;
}

/** The slowest that is above `factor` times the median of the others in `share` of the windows. */
export function findStraggler(
  windows: readonly RankWindow[],
  limits: StragglerLimits = stragglerLimits,
): Straggler | null {
  const usable = windows.filter(({ steps, meanNs }) => steps >= stepsInWindowMin && meanNs > 0);
  const workers = new Set(usable.map(({ worker }) => worker));
  if (workers.size < 2) return null;
  const tallies = new Map([...workers].map((worker) => [worker, new Tally(worker)]));
  for (const window of Map.groupBy(usable, ({ window }) => window).values()) {
    if (window.length < 2) continue;
    const sorted = window.toSorted((a, b) => a.meanNs - b.meanNs);
    for (const [at, { worker, meanNs }] of sorted.entries())
      tallies.get(worker)?.add(meanNs, medianWithout(sorted, at), limits.factor);
  }
  return (
    [...tallies.values()]
      .map((tally) => tally.toStraggler())
      .filter((one) => one.windows >= limits.windowsMin && one.slowWindows >= one.windows * limits.share)
      .sort((a, b) => b.meanNs / b.othersNs - a.meanNs / a.othersNs)[0] ?? null
  );
}

class Tally {
  private readonly worker: string;
  private readonly mine: number[] = [];
  private readonly theirs: number[] = [];
  private slowWindows = 0;

  constructor(worker: string) {
    this.worker = worker;
  }

  add(mineNs: number, othersNs: number, factor: number): void {
    this.mine.push(mineNs);
    this.theirs.push(othersNs);
    if (mineNs > factor * othersNs) this.slowWindows++;
  }

  toStraggler(): Straggler {
    const { worker, mine, theirs, slowWindows } = this;
    return { worker, windows: mine.length, slowWindows, meanNs: medianOf(mine), othersNs: medianOf(theirs) };
  }
}

/** The median of all but one, without sorting the others for each of a thousand ranks. */
function medianWithout(sorted: readonly RankWindow[], left: number): number {
  const others = sorted.length - 1;
  const at = (place: number): number => (sorted[place < left ? place : place + 1] as RankWindow).meanNs;
  const middle = others >> 1;
  return others % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
}

export function judgeStraggler({ windows }: RunEvidence): Finding | null {
  const found = findStraggler(windows);
  if (found === null) return null;
  const { worker, meanNs, othersNs, slowWindows } = found;
  return {
    code: "straggler",
    severity: "warn",
    confidence: found.windows >= 10 ? "high" : "medium",
    text: `${capital(sayWorker(worker))} is a straggler: ${sayNumber(meanNs / othersNs)} times as long as the others for a step.`,
    evidence: [
      `${sayTime(meanNs)} a step, the median of the others is ${sayTime(othersNs)}`,
      `slower in ${slowWindows} of ${found.windows} windows (${sayShare(slowWindows / found.windows)})`,
    ],
    next: "Look at that rank's host: its GPU clocks and temperature, its data, what else runs there.",
    ...ofWholeRun,
  };
}
