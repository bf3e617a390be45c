import { expect, test } from "vitest";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { positionOf, readAt } from "./hover.ts";

function series(run: string, x: number[], t: number[], last: (number | null)[]): PlotSeries {
  const none = x.map(() => 0);
  const common = { key: "loss", phase: "", worker: null, points: x.length, banded: false };
  const columns = { x, xLast: x, t, tLast: t, line: last, last, min: last, max: last };
  return { ...common, run, ...columns, count: none, nan: none, posInf: none, negInf: none };
}

// The second run is twice as slow, so the same moment is another step.
const fast = series("fast", [0, 1, 2, 3], [0, 10, 20, 30], [9, 4, 2, 1]);
const slow = series("slow", [0, 1, 2], [0, 20, 40], [9, 3, 0.5]);

test("runs are read at the same step, however fast each was", () => {
  const at = positionOf([fast, slow], 40);
  expect(at).toMatchObject({ x: 2, to: 2 });
  expect(readAt([fast, slow], at?.x ?? 0).map(({ run, value }) => [run, value])).toEqual([
    ["slow", 0.5],
    ["fast", 2],
  ]);
});

test("a run that had ended there is left out", () => {
  expect(readAt([fast, slow], 3).map(({ run }) => run)).toEqual(["fast"]);
});
