import { expect, test } from "vitest";
import { toIdFilter } from "./use-run-names.ts";

test("asks for each run once, in an order of its own, and for no more than fit in a filter", () => {
  expect(toIdFilter([])).toBe("");
  expect(toIdFilter(["b", 'a"', "b"])).toBe('id="a\\"" OR id="b"');
  const long = Array.from({ length: 50 }, (_, i) => `${"x".repeat(200)}${i}`);
  const filter = toIdFilter(long);
  expect(filter.length).toBeLessThan(4096);
  expect(filter.length).toBeGreaterThan(2500);
});
