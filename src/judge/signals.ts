// Whether a rule's condition holds now: pure functions over what is remembered of a run.

import type { ServerNs } from "#base/clock.ts";
import { smallestOf } from "#base/extremes.ts";
import type { RunMoment } from "./finding.ts";
import type { LastValues } from "./last-values.ts";
import { type Rule, toKeyTest } from "./rule.ts";
import { medianOf, spreadOf } from "./statistics.ts";
import { type StepTrack, stepsInWindow, warmUpSteps } from "./step-track.ts";
import { findStraggler } from "./straggler.ts";
import type { RunTrack, SeriesTrack } from "./track.ts";
import { capital, sayCount, sayMetric, sayMoment, sayNumber, sayShare, sayTime, sayWorker } from "./words.ts";

/** What a rule has seen. */
export interface Signal {
  readonly text: string;
  /** The numbers behind it, as sentences. */
  readonly evidence: readonly string[];
  readonly at: RunMoment;
  readonly metric: string;
}

export interface Moment {
  readonly nowNs: ServerNs;
  /** A worker is connected, or something of the run just arrived. */
  readonly isAlive: boolean;
  /** The median step of runs that rules name as yardsticks, in nanoseconds; runs without steps are missing. */
  readonly steps: ReadonlyMap<string, number>;
}

/** How long a step usually takes is the median of this many. */
export const usualSteps = 64;

type Look = (track: RunTrack, rule: Rule, moment: Moment) => Signal | null;

/** Null if it does not hold; undefined for rules about the table of runs. */
export function lookFor(rule: Rule): Look | undefined {
  return looks[rule.kind];
}

const looks: Partial<Record<Rule["kind"], Look>> = {
  nonfinite: (track, rule) => firstOf(track, rule, nonfinite),
  spike: (track, rule) => firstOf(track, rule, spike),
  diverge: (track, rule) => firstOf(track, rule, diverge),
  memory_creep: (track, rule) => firstOf(track, rule, memoryCreep),
  idle_gpu: (track, rule) => firstOf(track, rule, idleGpu),
  stall,
  slow: (track, rule, { steps }) => slowest(track, rule, steps),
  straggler,
  no_checkpoint: noCheckpoint,
};

/** Whether the rule depends only on the points and steps of a run: then it need not look again before more arrive. */
export function isOfTrackAlone({ kind, than }: Rule): boolean {
  return looks[kind] !== undefined && kind !== "stall" && than === "";
}

function option(rule: Rule, name: string): number {
  return rule.options[name] ?? Number.NaN;
}

/** Created once per rule, not for every look at every run. */
const keyTests = new WeakMap<Rule, (key: string) => boolean>();

function firstOf(track: RunTrack, rule: Rule, look: (series: SeriesTrack, rule: Rule) => Signal | null): Signal | null {
  const isWanted = keyTests.get(rule) ?? toKeyTest(rule.metric);
  keyTests.set(rule, isWanted);
  for (const series of track.series.values()) {
    const found = isWanted(series.key) ? look(series, rule) : null;
    if (found !== null) return found;
  }
  return null;
}

function nonfinite(series: SeriesTrack, rule: Rule): Signal | null {
  const { nonfinite: row } = series;
  if (row === null || row.count < option(rule, "count")) return null;
  const before =
    series.finite.count === 0
      ? "no value was finite before"
      : `the last finite value was ${sayNumber(series.finite.fromEnd(0))}`;
  return {
    text: `${sayMetric(series)} is not finite from ${sayMoment(row.from)} on.`,
    evidence: [`${sayCount(row.count, "point")} in a row`, before],
    at: row.from,
    metric: series.key,
  };
}

/** Whether most of the `size` values before the last `count` are as high as the least of those. Saves working out a median. */
function isCommon(values: LastValues, count: number, size: number): boolean {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < count; at++) least = Math.min(least, values.fromEnd(at));
  let higher = 0;
  for (let at = count; at < count + size; at++) if (values.fromEnd(at) >= least) higher++;
  return higher * 2 > size;
}

/** Upwards only: a sudden fall of a loss is no problem. */
function spike(series: SeriesTrack, rule: Rule): Signal | null {
  const count = option(rule, "count");
  const { finite, last } = series;
  const window = option(rule, "window");
  const size = Math.min(window + count, finite.held) - count;
  if (series.fresh === 0 || size < Math.min(30, window) || last === null || isCommon(finite, count, size)) return null;
  const before = finite.last(size + count).slice(0, -count);
  const median = medianOf(before);
  const spread = Math.max(spreadOf(before, median), Math.abs(median) * 1e-3, Number.MIN_VALUE);
  const zs = Array.from({ length: count }, (_, at) => (finite.fromEnd(at) - median) / spread);
  if (!zs.every((z) => z > option(rule, "z"))) return null;
  return {
    text: `${sayMetric(series)} has a spike: ${sayNumber(finite.fromEnd(0))} at ${sayMoment(last)}.`,
    evidence: [
      `the median of the ${before.length} points before is ${sayNumber(median)}, their spread ${sayNumber(spread)}`,
      `the last ${count} are at least ${sayNumber(smallestOf(zs))} deviations above it`,
    ],
    at: last,
    metric: series.key,
  };
}

function diverge({ key, phase, smoothed, best, last }: SeriesTrack, rule: Rule): Signal | null {
  const steps = option(rule, "steps");
  if (best === null || last === null || smoothed.count < 2 * steps) return null;
  // By a factor, or by that share of its size if the best is negative.
  const limit = best.value + Math.abs(best.value) * (option(rule, "factor") - 1);
  if (smoothed.held < steps || !smoothed.isLastAbove(limit, steps)) return null;
  return {
    text: `${sayMetric({ key, phase })} is diverging: ${sayNumber(smoothed.fromEnd(0))} at ${sayMoment(last)}.`,
    evidence: [
      `smoothed, its best was ${sayNumber(best.value)} at ${sayMoment(best.place)}`,
      `for ${steps} points it is more than ${sayNumber(option(rule, "factor"))} times that`,
    ],
    at: last,
    metric: key,
  };
}

/** Four quarters, each above the last, with a large rise in total. */
function memoryCreep({ key, phase, finite, last }: SeriesTrack, rule: Rule): Signal | null {
  const window = option(rule, "window");
  if (last === null || finite.held < window) return null;
  const values = finite.last(window);
  const quarters = [0, 1, 2, 3].map((at) => medianOf(values.subarray((at * window) / 4, ((at + 1) * window) / 4)));
  const [first, , , end] = quarters as [number, number, number, number];
  const isGrowing = quarters.every((value, at) => at === 0 || value > (quarters[at - 1] as number) * 1.01);
  if (!isGrowing || !(first > 0) || end / first < 1 + option(rule, "share")) return null;
  return {
    text: `${sayMetric({ key, phase })} keeps growing: by ${sayShare(end / first - 1)} over the last ${window} points.`,
    evidence: [`medians of its quarters: ${quarters.map(sayNumber).join(", ")}`],
    at: last,
    metric: key,
  };
}

function idleGpu({ key, phase, finite, last, fresh }: SeriesTrack, rule: Rule): Signal | null {
  const samples = option(rule, "samples");
  if (last === null || finite.held < samples || fresh === 0) return null;
  const median = medianOf(finite.last(samples));
  if (median >= option(rule, "percent")) return null;
  return {
    text: `${sayMetric({ key, phase })} is ${sayNumber(median)} %: the GPU is idle.`,
    evidence: [`the median of the last ${samples} samples`],
    at: last,
    metric: key,
  };
}

function stall(track: RunTrack, rule: Rule, { nowNs, isAlive }: Moment): Signal | null {
  if (!isAlive || track.steps.size === 0 || track.steppedNs === 0n) return null;
  const silentNs = Number(nowNs - track.steppedNs);
  const leastNs = option(rule, "min_ms") * 1e6;
  if (silentNs < leastNs) return null;
  const latest = [...track.steps.values()].reduce((a, b) => (b.tsNs > a.tsNs ? b : a));
  const usual = medianOf(latest.took.last(usualSteps));
  const limitNs = Math.max(leastNs, option(rule, "factor") * (Number.isNaN(usual) ? 0 : usual));
  if (silentNs < limitNs) return null;
  return {
    text: `No new step for ${sayTime(silentNs)}: the last was step ${latest.step}.`,
    evidence: [
      Number.isNaN(usual) ? "there was one step only" : `a step usually takes ${sayTime(usual)}`,
      `the limit is ${sayTime(limitNs)}`,
      "the run is still connected, or something else of it still comes",
    ],
    at: { step: latest.step, tsNs: latest.tsNs },
    metric: "",
  };
}

function slowest(track: RunTrack, rule: Rule, steps: Moment["steps"]): Signal | null {
  for (const worker of track.steps.values()) {
    const found = rule.than === "" ? slowerThanAtFirst(worker, rule) : slowerThan(worker, rule, steps.get(rule.than));
    if (found !== null) return found;
  }
  return null;
}

function slowerThanAtFirst({ worker, took, first, step, tsNs }: StepTrack, rule: Rule): Signal | null {
  const window = option(rule, "window");
  if (first.length < 20 || took.count < first.length + window) return null;
  const before = medianOf(first);
  const now = medianOf(took.last(window));
  if (!(now > before * option(rule, "factor"))) return null;
  return {
    text: `Steps have become slower: ${sayTime(now)}, ${sayNumber(now / before)} times as long as at first.`,
    evidence: [
      `the median of the last ${window} steps of ${sayWorker(worker)}`,
      `the median of its first ${first.length} was ${sayTime(before)}`,
    ],
    at: { step, tsNs },
    metric: "",
  };
}

function slowerThan({ worker, took, step, tsNs }: StepTrack, rule: Rule, usual: number | undefined): Signal | null {
  const window = option(rule, "window");
  if (usual === undefined || took.count < warmUpSteps + window) return null;
  const now = medianOf(took.last(window));
  if (!(now > usual * option(rule, "factor"))) return null;
  return {
    text: `Steps are slow: ${sayTime(now)}, ${sayNumber(now / usual)} times as long as those of ${rule.than}.`,
    evidence: [
      `the median of the last ${window} steps of ${sayWorker(worker)}`,
      `the median step of ${rule.than} is ${sayTime(usual)}`,
    ],
    at: { step, tsNs },
    metric: "",
  };
}

function straggler(track: RunTrack, rule: Rule): Signal | null {
  if (track.steps.size < 2) return null;
  const windows = option(rule, "windows");
  const byWorker = [...track.steps.values()].map((worker) => worker.toWindows()).filter((own) => own.length > 0);
  // The last windows that all of them have reached.
  const latest = byWorker.reduce((least, own) => Math.min(least, own.at(-1)?.window ?? 0), Number.POSITIVE_INFINITY);
  const recent = byWorker.flat().filter(({ window }) => window > latest - windows && window <= latest);
  const limits = { factor: option(rule, "factor"), share: option(rule, "share"), windowsMin: windows };
  const found = findStraggler(recent, limits);
  if (found === null) return null;
  const { worker, meanNs, othersNs, slowWindows } = found;
  const { step, tsNs } = track.steps.get(worker) as StepTrack;
  return {
    text: `${capital(sayWorker(worker))} is a straggler: ${sayNumber(meanNs / othersNs)} times as long as the others for a step.`,
    evidence: [`slower in ${slowWindows} of the last ${found.windows} windows of ${stepsInWindow} steps`],
    at: { step, tsNs },
    metric: "",
  };
}

function noCheckpoint(track: RunTrack, rule: Rule): Signal | null {
  const last = track.checkpointNs ?? track.firstNs;
  const latest = [...track.steps.values()].toSorted((a, b) => Number(b.tsNs - a.tsNs))[0];
  if (last === null || latest === undefined) return null;
  const sinceNs = Number(latest.tsNs - last);
  if (sinceNs < option(rule, "min_ms") * 1e6) return null;
  return {
    text: `No checkpoint for ${sayTime(sinceNs)}.`,
    evidence: [
      track.checkpointNs === null
        ? "there was none at all"
        : `the last came ${sayTime(sinceNs)} before step ${latest.step}`,
    ],
    at: { step: latest.step, tsNs: latest.tsNs },
    metric: "",
  };
}
