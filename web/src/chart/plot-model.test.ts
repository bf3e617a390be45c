import { expect, test } from "vitest";
import type { PlotSeries } from "./plot-data.ts";
import { toPlotModel, toTsv } from "./plot-model.ts";

const series: PlotSeries = {
  run: "r",
  key: "loss",
  phase: "",
  worker: null,
  points: 6,
  x: [0, 1, 2],
  xLast: [0, 1, 2],
  t: [0, 1, 2],
  tLast: [0, 1, 2],
  line: [4, -1, 2],
  last: [4, -1, 2],
  min: [4, -2, 1],
  max: [4, 0, 3],
  count: [1, 3, 2],
  nan: [0, 0, 0],
  posInf: [0, 0, 0],
  negInf: [0, 0, 0],
  banded: true,
};
const plain = { scale: "linear", robust: false, smoothing: 0 } as const;

test("the range covers the extremes of the buckets, not only their last values", () => {
  const model = toPlotModel([series], plain);
  expect(model.range.min).toBeLessThan(-2);
  expect(model.range.max).toBeGreaterThan(4);
  expect(model.outside).toBe("");
});

test("a log axis leaves out what is not above zero, and says so", () => {
  const model = toPlotModel([series], { ...plain, scale: "log" });
  expect(model.lines[0]?.raw).toEqual([4, null, 2]);
  expect(model.outside).toBe("1 or more not above 0");
});

test("a log axis without any value above zero still has a range", () => {
  const below = { ...series, line: [-1, -2, null], min: [-1, -2, null], max: [-1, -2, null], count: [1, 1, 1] };
  const model = toPlotModel([below], { ...plain, scale: "log" });
  expect(model.range.min).toBeGreaterThan(0);
  expect(model.range.max).toBeGreaterThan(model.range.min);
  expect(model.outside).toBe("2 not above 0");
});

test("a robust range says what is outside", () => {
  const spiky = { ...series, x: Array.from({ length: 100 }, (_, i) => i) };
  const values = spiky.x.map((x) => (x === 50 ? 1e6 : x / 100));
  const count = values.map(() => 1);
  const model = toPlotModel([{ ...spiky, line: values, min: values, max: values, count }], { ...plain, robust: true });
  expect(model.range.max).toBeLessThan(10);
  expect(model.outside).toBe("1 above ▲");
});

test("smoothing adds a line and leaves the raw one", () => {
  const model = toPlotModel([series], { ...plain, smoothing: 0.9 });
  expect(model.lines[0]?.raw).toEqual([4, -1, 2]);
  expect(model.lines[0]?.smooth).not.toEqual(model.lines[0]?.raw);
});

test("copies rows with every extreme", () => {
  expect(toTsv([series]).split("\n")[2]).toBe("r\tloss\t\t\t1\t3\t-1\t-2\t0\t0\t0\t0");
});
