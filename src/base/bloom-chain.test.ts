import { expect, it } from "vitest";
import { BloomChain } from "./bloom-chain.ts";

const kinds: readonly (readonly [string, (at: number) => string])[] = [
  ["counted ids", (at) => `run-${at}`],
  ["long ids that differ at their end", (at) => `default/c/${"0".repeat(24)}${at.toString(16).padStart(8, "0")}`],
  ["ids that differ at their beginning", (at) => `${at.toString(16).padStart(8, "0")}${"f".repeat(24)}`],
];

it.each(kinds)("knows every text that was added and few others: %s", (_, textOf) => {
  const chain = new BloomChain();
  for (let at = 0; at < 20_000; at++) chain.add(textOf(at));
  let known = 0;
  let mistaken = 0;
  for (let at = 0; at < 20_000; at++) {
    if (chain.has(textOf(at))) known++;
    if (chain.has(textOf(at + 20_000))) mistaken++;
  }
  expect(known).toBe(20_000);
  // Three filters that each err once in a hundred times.
  expect(mistaken).toBeLessThan(20_000 * 0.06);
});
