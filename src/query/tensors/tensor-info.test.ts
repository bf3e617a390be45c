import { expect, test } from "vitest";
import { changeOf, hintsOf, kindOf, pairOf, type TensorFacts, thin } from "./tensor-info.ts";

const facts = (more: Partial<TensorFacts>): TensorFacts => ({
  tensor: "w",
  norms: [1, 1],
  hasNan: false,
  lastMin: -1,
  lastMax: 1,
  ...more,
});

test("a gradient is paired with its weight [CT-18]", () => {
  const all = new Set(["fc1.weight", "fc1.weight.grad", "running_mean"]);
  expect(kindOf("fc1.weight.grad", all)).toBe("gradient");
  expect(kindOf("fc1.weight", all)).toBe("weight");
  expect(kindOf("running_mean", all)).toBe("other");
  expect(pairOf("fc1.weight.grad", all)).toBe("fc1.weight");
  expect(pairOf("running_mean", all)).toBeNull();
});

test("hints name what looks wrong", () => {
  expect(hintsOf(facts({}))).toEqual([]);
  expect(hintsOf(facts({ norms: [1, 1e6] }))).toEqual(["exploding"]);
  expect(hintsOf(facts({ norms: [1, 1e-6] }))).toEqual(["vanishing"]);
  expect(hintsOf(facts({ norms: [1, 0], lastMin: 0, lastMax: 0 }))).toEqual(["dead"]);
  expect(hintsOf(facts({ norms: [1, Number.NaN] }))).toEqual(["nan"]);
  expect(hintsOf(facts({ lastMin: 2, lastMax: 2 }))).toEqual(["constant"]);
});

test("change is relative to the first norm, and none where there is no such number", () => {
  expect(changeOf([2, null, 3])).toBe(0.5);
  expect(changeOf([0, 3])).toBeNull();
  expect(changeOf([Number.NaN])).toBeNull();
});

test("thinning keeps the first and the last", () => {
  const values = Array.from({ length: 1000 }, (_, at) => at);
  const thinned = thin(values, 48);
  expect(thinned).toHaveLength(48);
  expect([thinned[0], thinned.at(-1)]).toEqual([0, 999]);
  expect(thin([1, 2], 48)).toEqual([1, 2]);
});
