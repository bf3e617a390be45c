// A loss that has left its best behind for good, and a learning rate that may be why.

import type { EvidenceSeries, RunEvidence } from "./evidence.ts";
import type { Finding } from "./finding.ts";
import { Smoothed, spreadOf } from "./statistics.ts";
import { sayMetric, sayMoment, sayNumber } from "./words.ts";

/** Fewer points do not show a trend. */
const pointsMin = 50;
const factorMin = 1.3;

export interface Divergence {
  /** The index of the value where the smoothed series was least. */
  readonly bestAt: number;
  readonly best: number;
  /** The index from which on it never came back near its best. */
  readonly from: number;
  readonly last: number;
}

/** Null unless the values rose above their best by much more than their scatter, and stayed there. */
export function findDivergence(values: Float64Array): Divergence | null {
  const finite = values.filter(Number.isFinite);
  if (finite.length < pointsMin || finite.length < values.length * 0.9) return null;
  const smoothed = smooth(finite);
  const first = Math.floor(finite.length * 0.1);
  let bestAt = first;
  for (let at = first; at < smoothed.length; at++)
    if ((smoothed[at] as number) < (smoothed[bestAt] as number)) bestAt = at;
  const best = smoothed[bestAt] as number;
  const last = smoothed.at(-1) as number;
  const residuals = finite.map((value, at) => value - (smoothed[at] as number));
  const limit = best + Math.max(Math.abs(best) * (factorMin - 1), 3 * spreadOf(residuals));
  let from = smoothed.length;
  while (from > bestAt && (smoothed[from - 1] as number) > limit) from--;
  // For at least a twentieth of the run and a few points: one bad stretch at the very end is not a trend.
  if (smoothed.length - from < Math.max(10, finite.length / 20)) return null;
  const indexes = [...values.keys()].filter((at) => Number.isFinite(values[at]));
  return { bestAt: indexes[bestAt] as number, best, from: indexes[from] as number, last };
}

function smooth(values: Float64Array): Float64Array {
  const mean = new Smoothed(Math.min(50, Math.max(5, values.length / 20)));
  return values.map((value) => mean.add(value));
}

export function judgeDivergence(evidence: RunEvidence): Finding[] {
  for (const series of evidence.losses) {
    const found = findDivergence(series.values);
    if (found === null) continue;
    const from = series.places(found.from);
    const best = series.places(found.bestAt);
    const diverging: Finding = {
      code: "diverging",
      severity: "bad",
      confidence: series.values.length >= 200 ? "high" : "medium",
      text: `${sayMetric(series)} is diverging: ${sayNumber(found.last)} now, ${sayNumber(found.best)} at its best (${sayMoment(best)}).`,
      evidence: [
        `smoothed, it is ${sayNumber(found.last / found.best)} times its best`,
        `it has not come back since ${sayMoment(from)}`,
      ],
      next: `Go on from a checkpoint before ${sayMoment(best)} with a lower learning rate.`,
      at: from,
      metric: series.key,
      view: "charts",
    };
    const rate = judgeRate(evidence, best.tsNs, from.tsNs);
    return rate === null ? [diverging] : [diverging, rate];
  }
  return [];
}

/** Names a rate that peaked just before the loss turned. A constant rate is not evidence. */
export function judgeRate({ learningRates }: RunEvidence, bestNs: bigint, fromNs: bigint): Finding | null {
  for (const series of learningRates) {
    const peak = peakOf(series);
    if (peak === null) continue;
    const { tsNs } = series.places(peak.at);
    const startNs = series.places(0).tsNs;
    // The loss turned within a tenth of the way to the peak before it, or within twice that way after it.
    const way = tsNs - startNs;
    const isNear = bestNs >= tsNs - way / 10n && bestNs <= tsNs + way * 2n;
    if (!isNear || fromNs < startNs) continue;
    return {
      code: "rate_too_high",
      severity: "bad",
      confidence: "medium",
      text: `The learning rate is too high at the end of its warm-up: ${sayNumber(peak.value)} at ${sayMoment(series.places(peak.at))}.`,
      evidence: [
        `${sayMetric(series)} rose from ${sayNumber(series.values[0] as number)} to ${sayNumber(peak.value)}`,
        "the loss turned right there",
      ],
      next: `Halve the peak learning rate, to ${sayNumber(peak.value / 2)}, or warm up for longer.`,
      at: series.places(peak.at),
      metric: series.key,
      view: "charts",
    };
  }
  return null;
}

/** A warm-up: a rate that at least doubled on its way up. */
function peakOf({ values }: EvidenceSeries): { readonly at: number; readonly value: number } | null {
  if (values.length < 10) return null;
  let at = 0;
  for (let i = 1; i < values.length; i++) if ((values[i] as number) > (values[at] as number)) at = i;
  const value = values[at] as number;
  return at > 0 && value >= 2 * (values[0] as number) ? { at, value } : null;
}
