import { expect, test } from "vitest";
import { smooth } from "./smooth.ts";

test("a constant stays what it is from the first point on", () => {
  for (const value of smooth([2, 2, 2], 0.9)) expect(value).toBeCloseTo(2, 12);
});

test("gaps and non-finite values stay gaps and leave the average alone", () => {
  const [first, gap, nan, last] = smooth([1, null, Number.NaN, 1], 0.5);
  expect(first).toBeCloseTo(1, 12);
  expect([gap, nan]).toEqual([null, null]);
  expect(last).toBeCloseTo(1, 12);
});

test("without weight nothing changes", () => {
  expect(smooth([1, null, 3], 0)).toEqual([1, null, 3]);
});

test("a step is followed slowly with much weight, at once with little", () => {
  const step = [0, 0, 0, 10];
  expect(smooth(step, 0.9)[3]).toBeLessThan(5);
  expect(smooth(step, 0.1)[3]).toBeGreaterThan(8);
});
