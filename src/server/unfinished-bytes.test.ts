import { expect, it } from "vitest";
import { UnfinishedBytes } from "./unfinished-bytes.ts";

it("refuses what goes beyond the limit of all together, and takes it when others are done", () => {
  const all = new UnfinishedBytes(1_000_000);
  const [first, second] = [all.open(), all.open()];
  expect(first.hold(900_000)).toBe(true);
  expect(second.hold(200_000)).toBe(false);
  expect(all.bytes).toBe(900_000);
  first.close();
  expect(second.hold(200_000)).toBe(true);
  second.close();
  expect(all.bytes).toBe(0);
});

it("shuts nobody out who needs little, and lets everybody hold less than before", () => {
  const all = new UnfinishedBytes(100_000);
  const [large, small] = [all.open(), all.open()];
  expect(large.hold(100_000)).toBe(true);
  expect(small.hold(60_000)).toBe(true);
  expect(large.hold(90_000)).toBe(true);
  expect(large.hold(95_000)).toBe(false);
});
