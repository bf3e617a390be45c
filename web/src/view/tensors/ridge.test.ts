import { expect, test } from "vitest";
import type { Snapshot } from "#api/contract/snapshot.ts";
import { reachOf, ridgePath, toRidge, toRidges } from "./ridge.ts";

function snapshot(bins: Snapshot["bins"], counts: Snapshot["counts"]): Snapshot {
  return { bins, counts } as Snapshot;
}

test("densities do not depend on how wide a snapshot's bins are", () => {
  const narrow = toRidge(snapshot([0, 0.5, 1], [5, 5]));
  const wide = toRidge(snapshot([0, 1], [10]));
  expect(narrow.density).toEqual([1, 1]);
  expect(wide.density).toEqual([1]);
});

test("a histogram with NaN edges or no counts draws nothing", () => {
  expect(toRidge(snapshot(["NaN", 1], [3])).edges).toEqual([]);
  expect(toRidge(snapshot([0, 1], [0])).edges).toEqual([]);
  expect(toRidges([snapshot([], [])])).toBeNull();
});

test("all rows share one axis and one height", () => {
  const ridges = toRidges([snapshot([0, 1], [4]), snapshot([-1, 0, 3], [1, 3])]);
  expect(ridges?.x).toEqual({ min: -1, max: 3 });
  expect(ridgePath(ridges!.rows[0]!, ridges!, 100, 20)).toBe("M25.0 0L37.5 -20.0L50.0 0");
});

test("histograms beside each other are drawn over the reach of all of them", () => {
  const [narrow, wide] = [[snapshot([0, 1], [4])], [snapshot([-1, 3], [4])]];
  const reach = reachOf([...narrow, ...wide]);
  expect(reach).toEqual({ min: -1, max: 3 });
  expect(toRidges(narrow, reach)?.x).toEqual(reach);
  expect(toRidges([snapshot([], [])], reach)).toBeNull();
});
