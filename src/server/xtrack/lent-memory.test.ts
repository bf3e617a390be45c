import { expect, it } from "vitest";
import { bytePool } from "#base/array-pool.ts";
import { giveBackMemory } from "#base/give-back.ts";
import { giveBack, lendMemory, toLent } from "./lent-memory.ts";

it("is used again once it was given back, though others saw only parts of it", () => {
  const memory = lendMemory(100_000, 1000) as Uint8Array;
  const { buffer } = memory;
  giveBack(toLent(memory));
  expect(lendMemory(70_000, 50_000)?.buffer).toBe(buffer);
});

it("is not lent for little, which would lie beside what others use", () => {
  expect(lendMemory(64 * 1024, 64 * 1024)).toBeNull();
  expect(toLent(null)).toBeNull();
  giveBack(null);
  bytePool.empty();
});

it("is the runtime's when nobody has the record's bytes any more, however long it waits to be applied", async () => {
  const lent = toLent(lendMemory(200_000, 0));
  await new Promise((resolve) => setImmediate(resolve));
  giveBackMemory();
  expect(lent?.deref()).toBeUndefined();
});
