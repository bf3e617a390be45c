import { expect, test } from "vitest";
import { outstandingRow, throughExtremes } from "./outstanding.ts";
import type { PlotSeries } from "./plot-data.ts";

function buckets(max: readonly number[]): PlotSeries {
  const x = max.map((_, i) => i * 10);
  const line = max.map((value, i) => (i % 2 === 0 ? 0.99 : 1.01) + (value > 2 ? 0.1 : 0));
  return { x, line, max: [...max], min: line.map((value) => value - 0.01) } as unknown as PlotSeries;
}

test("a spike within reach of the pointer is what is meant", () => {
  const series = buckets([1.02, 1.02, 1.02, 1.02, 9, 1.02, 1.02, 1.02]);
  expect(outstandingRow(series, 3, 31, 15)).toBe(4);
  expect(outstandingRow(series, 5, 50, 15)).toBe(4);
});

test("without a spike, or out of its reach, it is the row under the pointer", () => {
  expect(outstandingRow(buckets([1.02, 1.03, 1.02, 1.04, 1.02]), 2, 20, 15)).toBe(2);
  expect(outstandingRow(buckets([9, 1.02, 1.02, 1.02, 1.02]), 3, 31, 15)).toBe(3);
});

test("a line without an envelope goes through a point that stands out of its bucket, up or down, else stays", () => {
  const { line, max, min } = buckets([1.02, 1.02, 1.02, 9, 1.02, 1.02, 1.02]);
  const dipped = min.map((value, row) => (row === 5 ? -7 : value));
  expect(throughExtremes(line, dipped, max)).toEqual(line.map((value, row) => ({ 3: 9, 5: -7 })[row] ?? value));
  expect(throughExtremes([1, null], [1, null], [1, null])).toEqual([1, null]);
});
