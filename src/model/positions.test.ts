import { expect, test } from "vitest";
import { formatPositions, isAfter, parsePositions } from "./positions.ts";

test("orders positions of one collector as numbers, not as text", () => {
  expect(isAfter("c1-10", "c1-9")).toBe(true);
  expect(isAfter("c1-9", "c1-9")).toBe(false);
});

test("takes an event of a collector that the answer does not name as new", () => {
  expect(isAfter("c2-1", "c1-9")).toBe(true);
  expect(isAfter("odd", "c1-9")).toBe(true);
});

test("compares an event of several collectors by the one it came from, which stands first", () => {
  expect(isAfter("b-8,a-9", "a-3,b-8")).toBe(false);
  expect(isAfter("b-9,a-1", "a-3,b-8")).toBe(true);
});

test("is the plain position with one collector, and reads back what it writes", () => {
  expect(formatPositions(new Map([["c1", 7]]))).toBe("c1-7");
  const positions = new Map([
    ["b", 2],
    ["a-x", 1],
    ["c", 3],
  ]);
  expect(formatPositions(positions)).toBe("a-x-1,b-2,c-3");
  expect(formatPositions(positions, "c")).toBe("c-3,a-x-1,b-2");
  expect(parsePositions("c-3,a-x-1,b-2,?,-4,d-,e-x")).toEqual(positions);
});
