import { expect, test } from "vitest";
import type { Series } from "#api/contract/series.ts";
import { appendPoints } from "./append-points.ts";
import { alignSeries, nearestStretch, nonFiniteMarks, pickColumn, toPlotSeries } from "./plot-data.ts";

const start = "1794710577346193000";

function series(part: Partial<Series>): Series {
  return {
    run: "r",
    key: "loss",
    phase: "train",
    worker: null,
    points: 3,
    exact: true,
    x_base: "100",
    x: [0, 1, 2],
    x_last: [0, 1, 2],
    t_base: "1794710577346193500",
    t: [0, 10, 20],
    t_last: [0, 10, 20],
    count: [1, 1, 1],
    first: [3, 2, 1],
    last: [3, 2, 1],
    min: [3, 2, 1],
    max: [3, 2, 1],
    mean: [],
    nan: [0, 0, 0],
    pos_inf: [0, 0, 0],
    neg_inf: [0, 0, 0],
    ...part,
  };
}

test("puts steps and times on the run's own clock", () => {
  const plot = toPlotSeries(series({}), "step", start);
  expect([plot.x, plot.t, plot.banded]).toEqual([[100, 101, 102], [500, 510, 520], false]);
  expect(toPlotSeries(series({ x_base: "1794710577346193500", x: [0, 10, 20] }), "time", start).x).toEqual([
    500, 510, 520,
  ]);
});

test("points at one place are one row: their mean, with their band", () => {
  const plot = toPlotSeries(
    series({ x: [0, 0, 2], x_last: [0, 0, 2], last: [1, 3, 7], min: [1, 3, 7], max: [1, 3, 7] }),
    "step",
    start,
  );
  expect(plot).toMatchObject({ x: [100, 102], line: [2, 7], min: [1, 7], max: [3, 7], count: [2, 1], banded: true });
});

test("a bucket that ends in NaN is drawn at its greatest finite value and marked", () => {
  const plot = toPlotSeries(
    series({ last: [3, "NaN", "Infinity"], max: [3, 2.5, null], count: [1, 4, 1], nan: [0, 2, 0], pos_inf: [0, 0, 1] }),
    "step",
    start,
  );
  expect(plot.last).toEqual([3, 2.5, null]);
  expect(plot.banded).toBe(true);
  expect(nonFiniteMarks(plot)).toEqual([
    { x: 101, kind: "nan", count: 2 },
    { x: 102, kind: "up", count: 1 },
  ]);
});

test("appends live points once, in order, and keeps what is not finite visible", () => {
  const plot = toPlotSeries(series({}), "step", start);
  const grown = appendPoints(plot, [
    { x: 104, t: 40, value: Number.NaN, count: 1 },
    { x: 103, t: 30, value: 0.5, count: 3 },
    { x: 102, t: 20, value: 9, count: 1 },
    { x: null, t: 50, value: 1, count: 1 },
  ]);
  expect([grown.x, grown.last, grown.nan]).toEqual([
    [100, 101, 102, 103, 104],
    [3, 2, 1, 0.5, null],
    [0, 0, 0, 0, 1],
  ]);
  expect(grown.points - plot.points).toBe(4);
  expect(appendPoints(grown, [{ x: 104, t: 40, value: 1, count: 1 }])).toBe(grown);
});

test("live points behind a history in buckets come in buckets of the same width, with their extremes", () => {
  const history = series({ x: [0, 10, 20], x_last: [9, 19, 29], count: [10, 10, 10], mean: [3, 2, 1] });
  const plot = toPlotSeries(history, "step", start);
  expect(plot.line).toEqual([3, 2, 1]);
  const points = Array.from({ length: 25 }, (_, i) => ({ x: 130 + i, t: 100 + i, value: i === 7 ? 99 : 1, count: 1 }));
  const grown = appendPoints(plot, [...points, { x: 155, t: 200, value: Number.NaN, count: 1 }]);
  expect(grown.x.length).toBeLessThanOrEqual(3 + 3);
  expect(grown.count.reduce((a, b) => a + b)).toBe(30 + 26);
  expect(Math.max(...grown.max.filter((value) => value !== null))).toBe(99);
  expect(grown.nan.at(-1)).toBe(1);
  expect([grown.tLast.at(-1), grown.xLast.at(-1)]).toEqual([200, 155]);
});

test("a value belongs to the stretch that holds it, else to the nearest", () => {
  const [starts, ends] = [
    [0, 10, 20],
    [9, 12, 29],
  ];
  expect([-5, 9, 9.4, 9.6, 14, 17, 25, 99].map((value) => nearestStretch(starts, ends, value))).toEqual([
    0, 0, 0, 1, 1, 2, 2, 2,
  ]);
  expect(nearestStretch([], [], 1)).toBe(-1);
});

test("aligns several series on the union of their positions", () => {
  const a = toPlotSeries(series({}), "step", start);
  const b = toPlotSeries(series({ x_base: "101", x: [0, 4], t: [0, 1], last: [7, 8] }), "step", start);
  const aligned = alignSeries([a, b]);
  expect(aligned.x).toEqual([100, 101, 102, 105]);
  expect(pickColumn(a.last, aligned.rows[0]!)).toEqual([3, 2, 1, undefined]);
  expect(pickColumn(b.last, aligned.rows[1]!)).toEqual([undefined, 7, undefined, 8]);
});
