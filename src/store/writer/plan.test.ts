import { expect, it } from "vitest";
import { decodePlan, encodePlan, type Plan, type PlannedBlock } from "./plan.ts";

const block = (table: PlannedBlock["table"], size: number): PlannedBlock => ({
  table,
  columns: ["a", "b"],
  rows: size,
  token: `c-1-9-${table}`,
  bytes: new Uint8Array(size).map((_, i) => i % 251),
});

const plan: Plan = { from: 1, to: 9, blocks: [block("groups", 5), block("spans", 300_000), block("marks", 70)] };

function join(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

it("gives a large block a file of its own, and is the same plan when it is read again", async () => {
  const { parts, files } = await encodePlan(plan);
  expect(files.map(({ name, bytes }) => [name, bytes.length])).toEqual([["spans", 300_000]]);
  expect(join(parts).length).toBeLessThan(2000);
  const read = await decodePlan(join(parts), async (name) => files.find((file) => file.name === name)?.bytes);
  expect(read).toEqual(plan);
});

it("is no plan any more when one of its files is missing, cut or damaged", async () => {
  const { parts, files } = await encodePlan(plan);
  const bytes = (files[0] as { bytes: Uint8Array }).bytes;
  const damaged = bytes.slice();
  damaged[100_000] = 7;
  for (const found of [undefined, bytes.subarray(1), damaged])
    expect(await decodePlan(join(parts), async () => found)).toBeNull();
});
