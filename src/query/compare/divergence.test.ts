import { expect, test } from "vitest";
import { findDivergence, type SteppedPoint, shareStep } from "./divergence.ts";

function series(values: readonly number[]): SteppedPoint[] {
  return values.map((value, at) => ({ x: BigInt(at), t: at * 10, value }));
}

const noisy = (length: number, phase: number) =>
  Array.from({ length }, (_, at) => 10 / (1 + at) + 0.01 * Math.sin(at * 7 + phase));

test("two noisy runs of the same training do not diverge", () => {
  expect(findDivergence(series(noisy(200, 0)), series(noisy(200, 1)))).toBeNull();
});

test("finds the step at which a run leaves the other for good", () => {
  const other = noisy(200, 1).map((value, at) => (at >= 120 ? value + (at - 119) * 0.5 : value));
  expect(findDivergence(series(noisy(200, 0)), series(other))?.at.x).toBe(120n);
});

test("a single spike is no divergence, a NaN that stays is", () => {
  const spike = noisy(200, 0).map((value, at) => (at === 50 ? value + 100 : value));
  expect(findDivergence(series(noisy(200, 0)), series(spike))).toBeNull();
  const broken = noisy(200, 0).map((value, at) => (at >= 60 ? Number.NaN : value));
  expect(findDivergence(series(noisy(200, 0)), series(broken))?.at.x).toBe(60n);
});

test("equal series never diverge, also when both are constant", () => {
  expect(findDivergence(series([1, 1, 1]), series([1, 1, 1]))).toBeNull();
  expect(findDivergence(series([]), series([1]))).toBeNull();
});

test("series without a common step are told from those that never part", () => {
  const late = series(noisy(10, 0)).map((point) => ({ ...point, x: point.x + 100n }));
  expect(shareStep(series(noisy(10, 0)), late)).toBe(false);
  expect(shareStep(series(noisy(10, 0)), series(noisy(20, 0)))).toBe(true);
});
