// Between the clock and the steps of a run, by one series that has both. Pure.

import type { PlotSeries } from "../chart/plot-data.ts";
import { nearestIndex } from "../chart/scale.ts";
import type { TimeWindow } from "./window.ts";

export interface Moment extends TimeWindow {
  /** The row of the step clock that ends the moment; −1 when there is none. */
  readonly row: number;
}

/**
 * The step a time falls in: from the point of the step before to its own. Points of other metrics are logged a little
 * before or after, so a time close to a point means that point.
 */
export function stepAt(steps: PlotSeries, t: number): Moment | null {
  const near = nearestIndex(steps.t, t);
  const at = steps.t[near];
  if (at === undefined) return null;
  const before = steps.t[near - 1];
  const after = steps.t[near + 1];
  const length = before === undefined ? (after === undefined ? 0 : after - at) : at - before;
  const row = t <= at + length * 0.1 ? near : near + 1;
  const to = steps.t[row];
  const from = steps.t[row - 1];
  if (to === undefined) return { row: -1, from: at, to: Math.max(t, at + 1) };
  return { row, from: from ?? to - Math.max(1, length), to: Math.max(to, (from ?? 0) + 1) };
}

/** The first and the last step logged within a window; null when none was. */
export function stepsWithin(steps: PlotSeries, window: TimeWindow): readonly [number, number] | null {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  steps.t.forEach((t, i) => {
    const step = steps.x[i];
    if (step === undefined || t < window.from || t > window.to) return;
    first = Math.min(first, step);
    last = Math.max(last, step);
  });
  return first > last ? null : [first, last];
}
