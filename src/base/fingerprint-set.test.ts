import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { FingerprintSet } from "./fingerprint-set.ts";

const count = 20_000;

function digest(at: number): readonly [number, number] {
  const bytes = createHash("sha256").update(String(at)).digest();
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4) >>> 1];
}

const kinds: readonly (readonly [string, (at: number) => readonly [number, number]])[] = [
  ["ids like random ones", digest],
  ["counted ids", (at) => [at, 0]],
  ["ids that differ in their upper half", (at) => [7, at]],
];

it.each(kinds)("knows every id that was added, and no other: %s", (_, idOf) => {
  const ids = Array.from({ length: count * 2 }, (_, at) => idOf(at));
  const set = new FingerprintSet(count);
  for (const [low, high] of ids.slice(0, count)) set.add(low, high);
  expect(ids.slice(0, count).every(([low, high]) => set.has(low, high))).toBe(true);
  // Which are mistaken depends on the process: one in fifty thousand runs of this test, two in none.
  expect(ids.slice(count).filter(([low, high]) => set.has(low, high)).length).toBeLessThanOrEqual(1);
});

it("counts an id that is added again once", () => {
  const set = new FingerprintSet(10);
  for (let round = 0; round < 100; round++) set.add(round % 10, 1);
  expect(set.size).toBe(10);
});
