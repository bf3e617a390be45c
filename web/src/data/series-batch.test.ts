import { expect, test } from "vitest";
import { toRequests } from "./series-batch.ts";

const body = (key: string, runs = 1, buckets = 600) => ({
  runs: Array.from({ length: runs }, (_, i) => `run-${i}`),
  keys: [key],
  buckets,
});

test("panels of one run that come together ask once", () => {
  expect(toRequests(Array.from({ length: 12 }, (_, i) => body(`m${i}`)))).toEqual([
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
  ]);
});

test("of a hundred runs a request holds few panels, so that the first is drawn soon", () => {
  expect(toRequests(Array.from({ length: 5 }, (_, i) => body(`m${i}`, 100, 200)))).toEqual([
    [0, 1, 2],
    [3, 4],
  ]);
});

test("questions that differ in more than the metric stay apart", () => {
  expect(toRequests([body("a"), { ...body("b"), axis: "time" }, body("c"), { ...body("a"), phase: "val" }])).toEqual([
    [0, 2, 3],
    [1],
  ]);
});
