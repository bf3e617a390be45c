import { expect, it } from "vitest";
import { TextFilter } from "./text-filter.ts";

const kinds: readonly (readonly [string, (at: number) => string])[] = [
  ["counted ids", (at) => `run-${at}`],
  ["long ids that differ at their end", (at) => `default/c/${"0".repeat(24)}${at.toString(16).padStart(8, "0")}`],
  ["ids that differ at their beginning", (at) => `${at.toString(16).padStart(8, "0")}${"f".repeat(24)}`],
];

it.each(kinds)("knows every text that was added, and no other: %s", (_, textOf) => {
  const filter = new TextFilter();
  for (let at = 0; at < 20_000; at++) filter.add(textOf(at));
  let known = 0;
  let mistaken = 0;
  for (let at = 0; at < 20_000; at++) {
    if (filter.has(textOf(at))) known++;
    if (filter.has(textOf(at + 20_000))) mistaken++;
  }
  expect(known).toBe(20_000);
  expect(filter.byteSize).toBeLessThan(20_000 * 16);
  // Of 64 bits two texts in billions are alike.
  expect(mistaken).toBeLessThanOrEqual(1);
});
