import fc from "fast-check";
import { expect, test } from "vitest";
import {
  extentOf,
  lowerBound,
  nearestIndex,
  niceTicks,
  padRange,
  quantileOfSorted,
  robustRange,
  shareOfRange,
  timeTicks,
} from "./scale.ts";

test("takes the extent of finite values only", () => {
  expect(extentOf([3, Number.NaN, null, -1, Number.POSITIVE_INFINITY])).toEqual({ min: -1, max: 3 });
  expect(extentOf([Number.NaN, null])).toBeNull();
});

test("gives a constant a range of its own", () => {
  expect(padRange({ min: 5, max: 5 })).toEqual({ min: 4.5, max: 5.5 });
  expect(padRange({ min: 0, max: 0 })).toEqual({ min: -1, max: 1 });
});

test("ranges that reach to the ends of what a number can be stay finite, and values have a place in them", () => {
  const most = Number.MAX_VALUE;
  expect(padRange({ min: most, max: most }).max).toBe(most);
  expect(padRange({ min: -most, max: most })).toEqual({ min: -most, max: most });
  expect([-most, 0, most].map((value) => shareOfRange({ min: -most, max: most }, value))).toEqual([0, 0.5, 1]);
  expect(shareOfRange({ min: 5e-324, max: 15e-324 }, 10e-324)).toBe(0.5);
});

test("ticks are inside a narrow range far from 0, as of tokens that are counted as steps", () => {
  expect(niceTicks({ min: 9_007_199_254_740_992, max: 9_007_199_254_741_042 }, 5)).toEqual(
    [1000, 1010, 1020, 1030, 1040].map((part) => 9_007_199_254_740_000 + part),
  );
  expect(niceTicks({ min: 0.1, max: 0.7 }, 6)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
});

test("a robust range leaves an outlier outside", () => {
  const values = [...Array.from({ length: 99 }, (_, i) => i / 99), 1000];
  const range = robustRange(values);
  expect(range?.max).toBeLessThan(2);
  expect(range?.min).toBe(0);
});

test("ticks are round and inside the range", () => {
  expect(niceTicks({ min: 0, max: 1 }, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect(niceTicks({ min: 1.7, max: 4.8 }, 4)).toEqual([2, 3, 4]);
  expect(niceTicks({ min: 2, max: 2 }, 4)).toEqual([2]);
});

test("ticks stay inside any range and within the count", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: 1e-6, max: 1e9, noNaN: true }),
      (min, span) => {
        const ticks = niceTicks({ min, max: min + span }, 6);
        const air = span * 1e-6 + Math.abs(min) * 1e-9;
        return ticks.length <= 8 && ticks.every((tick) => tick >= min - air && tick <= min + span + air);
      },
    ),
  );
});

test("time ticks fall on steps a clock has", () => {
  expect(timeTicks(0, 14.2e9, 8)).toEqual({ stepNs: 2e9, ticks: [0, 2e9, 4e9, 6e9, 8e9, 10e9, 12e9, 14e9] });
  expect(timeTicks(0, 4 * 3600e9, 5).stepNs).toBe(3600e9);
  expect(timeTicks(0.2e9, 7e9, 3)).toEqual({ stepNs: 2e9, ticks: [2e9, 4e9, 6e9] });
});

test("finds the nearest and the first not smaller", () => {
  const steps = [0, 10, 20, 40];
  expect([-5, 4, 6, 31, 99].map((at) => nearestIndex(steps, at))).toEqual([0, 0, 1, 3, 3]);
  expect([-1, 10, 11, 41].map((at) => lowerBound(steps, at))).toEqual([0, 1, 2, 4]);
  expect(nearestIndex([], 1)).toBe(-1);
});

test("quantiles lie between their neighbours", () => {
  expect(quantileOfSorted([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantileOfSorted([], 0.5)).toBeNaN();
});
