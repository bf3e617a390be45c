import { expect, test } from "vitest";
import type { SpanFlameAnswer } from "#api/contract/span.ts";
import { sumByName, toFlameBoxes } from "./flame.ts";

const answer: SpanFlameAnswer = {
  names: ["epoch", "step", "forward"],
  nodes: {
    parent: [-1, 0, 1, 2],
    name: [0, 1, 2, 2],
    count: [1, 10, 20, 5],
    wall_ns: [100, 80, 40, 10],
    gpu_ns: [null, null, 30, null],
  },
  total: 36,
  as_of: "",
};

test("boxes are as wide as their time, and lie within the one above", () => {
  const boxes = toFlameBoxes(answer, null);
  expect(boxes.map((box) => [box.name, box.depth, box.width])).toEqual([
    ["epoch", 0, 1],
    ["step", 1, 0.8],
    ["forward", 2, 0.4],
    ["forward", 3, 0.1],
  ]);
  expect(boxes.map((box) => box.selfNs)).toEqual([20, 40, 30, 10]);
});

test("one of them can be looked at alone", () => {
  expect(toFlameBoxes(answer, 1).map((box) => [box.name, box.width])).toEqual([
    ["step", 1],
    ["forward", 0.5],
    ["forward", 0.125],
  ]);
});

test("sums by name count the time of a name below itself once", () => {
  expect(sumByName(answer)).toEqual([
    { name: "epoch", count: 1, wallNs: 100, selfNs: 20, gpuNs: null },
    { name: "step", count: 10, wallNs: 80, selfNs: 40, gpuNs: null },
    { name: "forward", count: 25, wallNs: 40, selfNs: 40, gpuNs: 30 },
  ]);
});
