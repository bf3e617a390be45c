import { expect, it } from "vitest";
import type { LiveEvent } from "#api/contract/live.ts";
import type { Run } from "#api/contract/run.ts";
import { createTally } from "./tally.ts";

const runWith = (points: number, logs: number) => ({ id: "r", counts: { points, logs } }) as Run;
const told = (points: number): LiveEvent =>
  ({ name: "metrics", id: "c-2", data: { key: Array.from({ length: points }, () => "loss") } }) as unknown as LiveEvent;
const skipped = { name: "skipped", id: "c-3", data: { from: "c-2", to: "c-3", reason: "away" } } as LiveEvent;

it("says how much was left out, where the stream says that something was", () => {
  const tally = createTally(runWith(10, 5));
  tally.take(told(3));
  expect(tally.missed(runWith(15, 6))).toBe("");
  tally.take(skipped);
  expect(tally.missed(runWith(15, 6))).toBe("Not shown above: 2 points and 1 line. tributary export r has everything.");
  expect(tally.missed(runWith(13, 5))).toBe("");
});
