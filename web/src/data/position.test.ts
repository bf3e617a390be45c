import { expect, test } from "vitest";
import { isAfter } from "./position.ts";

test("orders positions of one collector as numbers, not as text", () => {
  expect(isAfter("c1-10", "c1-9")).toBe(true);
  expect(isAfter("c1-9", "c1-9")).toBe(false);
  expect(isAfter("c1-9007199254740993", "c1-9007199254740992")).toBe(true);
});

test("takes an event of another collector as new", () => {
  expect(isAfter("c2-1", "c1-9")).toBe(true);
  expect(isAfter("odd", "c1-9")).toBe(true);
});
