import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { MissingEvents } from "./missing-events.ts";

it("counts once while several ask, and rests after a count that took long", async () => {
  let counts = 0;
  const missing = new MissingEvents(async () => {
    await sleep(200);
    return ++counts;
  });
  expect(await Promise.all([missing.refresh(), missing.refresh()])).toEqual([1, 0]);
  expect([await missing.refresh(), counts]).toEqual([1, 1]);
});

it("keeps its count while the store does not answer", async () => {
  let isAway = false;
  let refused = 0;
  const missing = new MissingEvents(async () => {
    if (!isAway) return 7;
    refused++;
    throw new Error("The store is away");
  });
  expect(await missing.refresh()).toBe(7);
  isAway = true;
  await expect.poll(async () => [await missing.refresh(), refused > 0]).toEqual([7, true]);
});
