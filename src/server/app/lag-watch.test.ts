import { expect, it } from "vitest";
import { LagWatch } from "./lag-watch.ts";

it("tells how long the oldest record that is not stored has waited", () => {
  let nowMs = 0;
  const watch = new LagWatch(() => nowMs);
  for (const position of [1, 2, 3]) {
    watch.note(position);
    nowMs += 1000;
  }
  expect(watch.lagMs(0)).toBe(3000);
  expect(watch.lagMs(1)).toBe(2000);
  expect(watch.lagMs(3)).toBe(0);
});

it("holds few marks however long the store is away, and is off by little once the store catches up", () => {
  let nowMs = 0;
  const watch = new LagWatch(() => nowMs);
  const seconds = 24 * 3600;
  for (let position = 1; position <= seconds; position++) {
    watch.note(position);
    nowMs += 1000;
  }
  expect((watch as unknown as { marks: unknown[] }).marks.length).toBeLessThanOrEqual(2000);
  expect(watch.lagMs(0)).toBe(seconds * 1000);
  const half = watch.lagMs(seconds / 2) / 1000;
  expect(Math.abs(half - seconds / 2)).toBeLessThan(seconds / 500);
});
