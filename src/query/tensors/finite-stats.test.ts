import { expect, test } from "vitest";
import { toFiniteStats, toNonfiniteCount } from "./finite-stats.ts";

test("reads how many values are not finite, and only a count as such", () => {
  expect(toNonfiniteCount("4")).toBe(4);
  for (const odd of ["", "null", "-1", "1.5", '"4"', "[4]"]) expect(toNonfiniteCount(odd)).toBeNull();
});

test("reads the statistics of the finite values, and a sum that is not", () => {
  const sent = '{"count":2,"mean":1e308,"std":-0.0,"min":1,"norm":null,"nonfinite":{"norm":"inf"},"histogram":{}}';
  const read = { count: 2, mean: 1e308, std: -0, min: 1, max: null, norm: Number.POSITIVE_INFINITY };
  expect(toFiniteStats(sent)).toStrictEqual(read);
  expect(toFiniteStats('{"count":0}')).toMatchObject({ count: 0, mean: null, norm: null });
  for (const odd of ["", "7", "null", "[]", "{}", '{"count":"many"}']) expect(toFiniteStats(odd)).toBeNull();
});
