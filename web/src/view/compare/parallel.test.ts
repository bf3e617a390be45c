import { expect, test } from "vitest";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { keepRuns, passBrushes, sharedAxes, toAxes } from "./parallel.ts";

const compare = {
  params: [
    { name: "lr", values: ["0.0001", "0.01", null], differs: true },
    { name: "optimizer", values: ['"adam"', '"sgd"', '"adam"'], differs: true },
    { name: "seed", values: ["0", "0", "0"], differs: false },
  ],
  metrics: [{ key: "loss", phase: "train", last: [2, "NaN", 4], min: [], max: [], nonfinite: [] }],
} as unknown as CompareAnswer;

const axes = toAxes(compare, String);

test("draws only what differs, wide ranges logarithmically, words in order", () => {
  expect(axes.map((axis) => axis.label)).toEqual(["lr (log)", "optimizer", "train · loss"]);
  expect(axes[0]?.places).toEqual([0, 1, null]);
  expect(axes[1]?.places).toEqual([0, 1, 0]);
});

test("a value that is not finite has no place on the axis but keeps its text", () => {
  expect(axes[2]?.places).toEqual([0, null, 1]);
  expect(axes[2]?.texts).toEqual(["2", "NaN", "4"]);
});

test("an axis that few runs have a place on is not offered first", () => {
  const rare = { key: "loss", phase: "", last: [1, null, null], min: [], max: [], nonfinite: [] };
  const all = toAxes({ ...compare, metrics: [rare, ...compare.metrics] } as unknown as CompareAnswer, String);
  const metrics = all.filter((axis) => axis.kind === "metric");
  expect(metrics.map((axis) => axis.label)).toEqual(["loss", "train · loss"]);
  expect(sharedAxes([...metrics, axes[1] as (typeof axes)[number]]).map((axis) => axis.label)).toEqual([
    "train · loss",
    "optimizer",
  ]);
});

test("of some runs only, the axes reach no further than these", () => {
  const some = { ...compare, runs: [{ id: "a" }, { id: "b" }, { id: "c" }] } as unknown as CompareAnswer;
  const kept = keepRuns(some, (run) => run !== 1);
  expect(kept.runs.map((run) => run.id)).toEqual(["a", "c"]);
  expect(toAxes(kept, String)[0]?.ticks.map((tick) => tick.text)).toEqual(["0.0001"]);
});

function ticksOf(values: readonly number[]): string[] {
  const params = [{ name: "p", values: values.map(String), differs: true }];
  const [axis] = toAxes({ params, metrics: [] } as unknown as CompareAnswer, String);
  return axis?.ticks.map((tick) => tick.text) ?? [];
}

test("few values are marked themselves, many by round numbers, and none lies on another", () => {
  expect(ticksOf([16, 64, 32, 64])).toEqual(["16", "32", "64"]);
  expect(ticksOf([2, 4, 5, 2.001])).toEqual(["2", "4", "5"]);
  expect(ticksOf([1.36, 1.6, 1.9, 2.05, 2.2, 2.5, 2.9, 3.26])).toEqual(["1.36", "1.5", "2", "2.5", "3", "3.26"]);
  expect(ticksOf([0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 3e5])).toEqual([
    "0.0003",
    "0.001",
    "0.1",
    "10",
    "1000",
    "100000",
    "300000",
  ]);
});

test("brushes keep the runs that pass all of them", () => {
  expect(passBrushes(axes, {}, 3)).toEqual([true, true, true]);
  expect(passBrushes(axes, { "params.lr": [0, 0.5] }, 3)).toEqual([true, false, false]);
  expect(passBrushes(axes, { "params.optimizer": [0, 0.2], "metrics.loss@train": [0.9, 1] }, 3)).toEqual([
    false,
    false,
    true,
  ]);
});
