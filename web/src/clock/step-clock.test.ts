import { expect, test } from "vitest";
import type { PlotSeries } from "../chart/plot-data.ts";
import { momentOf, stepAt, stepsWithin } from "./step-clock.ts";

const steps = { x: [1, 2, 3], t: [1000, 2000, 3000], tLast: [1000, 2000, 3000] } as unknown as PlotSeries;

test("a time belongs to the step that was logged next", () => {
  expect(stepAt(steps, 1500)).toEqual({ row: 1, from: 1000, to: 2000 });
  expect(stepAt(steps, 2000)).toEqual({ row: 1, from: 1000, to: 2000 });
  expect(stepAt(steps, 2700)).toEqual({ row: 2, from: 2000, to: 3000 });
});

test("a point logged just after a step's own still means that step", () => {
  expect(stepAt(steps, 2050)?.row).toBe(1);
  expect(stepAt(steps, 2150)?.row).toBe(2);
});

test("before the first and after the last step there is a moment too", () => {
  expect(stepAt(steps, 400)).toEqual({ row: 0, from: 0, to: 1000 });
  expect(stepAt(steps, 4000)).toEqual({ row: -1, from: 3000, to: 4000 });
  expect(stepAt({ tLast: [] }, 1)).toBeNull();
});

test("says which steps a window holds", () => {
  expect(stepsWithin(steps, { from: 1000, to: 2000 })).toEqual([1, 2]);
  expect(stepsWithin(steps, { from: 1001, to: 1999 })).toBeNull();
});

test("a bucket of steps is a moment with its real range", () => {
  const tLast = [900, 1900, 2900];
  expect(stepAt({ tLast }, 1000 + 300)).toEqual({ row: 1, from: 900, to: 1900 });
  expect(momentOf(tLast, 2)).toEqual({ row: 2, from: 1900, to: 2900 });
});
