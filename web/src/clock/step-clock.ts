// Between the clock and the steps of a run, by one series that has both. Pure.

import type { PlotSeries } from "../chart/plot-data.ts";
import { lowerBound } from "../chart/scale.ts";
import type { TimeWindow } from "./window.ts";

export interface Moment extends TimeWindow {
  /** The row of the step clock that ends the moment; −1 when there is none. */
  readonly row: number;
}

/**
 * The step, or bucket of steps, a time falls in: from the last point of the one before to its own last. Points of other
 * metrics are logged a little before or after, so a time just after a step still means that step.
 */
export function stepAt({ tLast: ends }: Pick<PlotSeries, "tLast">, t: number): Moment | null {
  const next = lowerBound(ends, t);
  const lengthOf = (row: number) => (ends[Math.max(1, row)] ?? 0) - (ends[Math.max(1, row) - 1] ?? 0);
  const behind = ends[next - 1];
  const length = ends.length < 2 ? 0 : lengthOf(Math.min(next, ends.length - 1));
  const row = behind !== undefined && t - behind <= length * 0.1 ? next - 1 : next;
  if (row < ends.length) return momentOf(ends, row);
  return behind === undefined ? null : { row: -1, from: behind, to: Math.max(t, behind + 1) };
}

/** The times a row stands for. */
export function momentOf(ends: readonly number[], row: number): Moment {
  const to = ends[row] ?? 0;
  const before = ends[row - 1];
  if (before !== undefined && before < to) return { row, from: before, to };
  const after = ends[row + 1];
  return { row, from: to - Math.max(1, before === undefined && after !== undefined ? after - to : 0), to };
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
