import { expect, test } from "vitest";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { groupSeries } from "./group-series.ts";

function series(run: string, x: number[], last: (number | null)[], nan: number[] = x.map(() => 0)): PlotSeries {
  const none = x.map(() => 0);
  const common = { key: "loss", phase: "", worker: null, points: x.length, banded: false };
  return {
    ...common,
    run,
    x,
    xLast: x,
    t: x,
    tLast: x,
    line: last,
    last,
    min: last,
    max: last,
    count: x.map(() => 1),
    nan,
    posInf: none,
    negInf: none,
  };
}

test("the line of a group is the mean, its band from the least to the greatest", () => {
  const group = groupSeries("sgd", [series("a", [0, 10], [1, 3]), series("b", [0, 10], [3, 5])]);
  expect(group).toMatchObject({ run: "sgd", x: [0, 10], last: [2, 4], min: [1, 3], max: [3, 5], banded: true });
});

test("a run is read between its points, and has no say before its first and after its last", () => {
  const group = groupSeries("g", [series("a", [0, 10], [0, 10]), series("b", [5, 20], [7, 22])]);
  expect(group?.x).toEqual([0, 5, 10, 20]);
  expect(group?.last).toEqual([0, 6, 11, 22]);
  expect(group?.count).toEqual([1, 2, 2, 1]);
});

test("a gap stays a gap, and what is not finite is counted where it was", () => {
  const group = groupSeries("g", [series("a", [0, 1, 2], [1, null, 3], [0, 2, 0]), series("b", [0, 2], [1, 3])]);
  expect(group?.last).toEqual([1, 2, 3]);
  expect(group?.count).toEqual([2, 1, 2]);
  expect(group?.nan).toEqual([0, 2, 0]);
});

test("the band holds every point of a bucket, not only its mean", () => {
  const spiky = { ...series("a", [0, 10], [1, 1]), min: [0, 1], max: [1, 9], banded: true };
  const group = groupSeries("g", [spiky, series("b", [0, 10], [2, 2])]);
  expect(group).toMatchObject({ line: [1.5, 1.5], min: [0, 1], max: [2, 9], banded: true });
});

test("of many runs with positions of their own the line is no rougher than the runs, and no extreme is lost", () => {
  // Each run is noisy in its own way, at positions that no other has.
  const runs = Array.from({ length: 7 }, (_, run) => {
    const x = Array.from({ length: 270 }, (_, i) => i * 7 + run);
    return series(
      `${run}`,
      x,
      x.map((_, i) => run + (i % 2)),
    );
  });
  const [first, ...rest] = runs;
  if (first === undefined) throw new Error("there are runs");
  const spike = { ...first, max: first.max.map((value, i) => (i === 133 ? 99 : value)) };
  const group = groupSeries("g", [spike, ...rest]);
  expect(group?.x.length).toBeLessThanOrEqual(240);
  expect(Math.max(...(group?.max ?? []).map(Number))).toBe(99);
  const inner = group?.line.slice(2, -2).map(Number) ?? [];
  // The mean of the runs is 3.5 throughout.
  for (const value of inner) expect(Math.abs(value - 3.5)).toBeLessThan(0.5);
});

test("no runs are no line", () => {
  expect(groupSeries("g", [])).toBeNull();
});
