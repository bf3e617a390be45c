import { expect, test } from "vitest";
import type { PlotModel } from "./plot-model.ts";
import { type PlotLook, toSeriesOptions } from "./plot-options.ts";

const look = {
  axis: "step",
  scale: "linear",
  linear: 1,
  colours: ["#112233"],
  inks: {},
  hidden: new Set(),
  startMs: 0,
} as unknown as PlotLook;

function options(isMean: boolean) {
  const line = { raw: [2, 2], smooth: null, high: [3, 9], low: [1, 1], isMean };
  const model: PlotModel = { x: [0, 1], lines: [line], range: { min: 0, max: 10 }, linear: 1, outside: "" };
  const { series, bands } = toSeriesOptions(model, look);
  const [, high, low, mean] = series;
  return { high, low, mean, bands };
}

test("what stands out within a bucket is as strong as the line", () => {
  const { high, low, mean } = options(false);
  expect([high?.stroke, low?.stroke]).toEqual([mean?.stroke, mean?.stroke]);
  expect([high?.width, low?.width]).toEqual([mean?.width, mean?.width]);
});

test("the mean of several runs is stronger than the band around it, which is filled", () => {
  const { high, mean, bands } = options(true);
  expect(mean?.width as number).toBeGreaterThan(high?.width as number);
  expect(high?.stroke).not.toBe(mean?.stroke);
  expect(bands).toHaveLength(1);
});
