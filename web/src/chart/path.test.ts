import { expect, test } from "vitest";
import { bandPath, linePath, pointOf, spreadOver } from "./path.ts";

const y = (value: number) => 10 - value;

test("a line is broken where there is no value, and goes on after it", () => {
  const points = [1, 2, null, 4, 5].map((value, x) => pointOf(x, value, y));
  expect(linePath(points)).toBe("M0.0 9.0L1.0 8.0M3.0 6.0L4.0 5.0");
});

test("what lies between two lines is one shape, and of a single point none", () => {
  const over = [[0, 1] as const, [1, 2] as const];
  const under = [[0, 5] as const, [1, 6] as const];
  expect(bandPath(over, under)).toBe("M0.0 1.0L1.0 2.0L1.0 6.0L0.0 5.0Z");
  expect(bandPath(over.slice(1), under.slice(1))).toBe("");
});

test("marks that are too many are thinned over their whole length", () => {
  const list = Array.from({ length: 59 }, (_, i) => i);
  const kept = spreadOver(list, 24);
  expect(kept.length).toBeLessThanOrEqual(24);
  expect([kept[0], kept.at(-1)]).toEqual([0, 58]);
  expect(Math.max(...kept.slice(1).map((each, i) => each - (kept[i] ?? 0)))).toBeLessThanOrEqual(4);
  expect(spreadOver(list, 59)).toEqual(list);
});
