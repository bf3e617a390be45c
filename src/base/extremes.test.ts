import { expect, it } from "vitest";
import { largestOf, smallestOf } from "./extremes.ts";

it("folds more numbers than fit on a stack", () => {
  const many = Array.from({ length: 1_000_000 }, (_, at) => at - 7);
  expect([smallestOf(many), largestOf(many)]).toEqual([-7, 999_992]);
});

it("answers as Math does for none and for NaN", () => {
  expect([smallestOf([]), largestOf([])]).toEqual([Math.min(), Math.max()]);
  expect([smallestOf([1, Number.NaN, 2]), largestOf([1, Number.NaN, 2])]).toEqual([Number.NaN, Number.NaN]);
});
