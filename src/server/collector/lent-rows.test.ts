import { expect, it } from "vitest";
import type { Batch } from "#model/batch.ts";
import { createRows } from "#model/tables.ts";
import { LentRows } from "./lent-rows.ts";

function batchAt(position: number): Batch {
  const rows = createRows("marks");
  rows.mark_id.push(`mark ${position}`);
  return { first: position, position, parts: [{ table: "marks", rows, dropped: null }], state: [], bytes: 1 };
}

it("frees rows when they are stored and the hub has forgotten them, whichever comes last", () => {
  const lent = new LentRows(10);
  const batches = [11, 12, 14, 15].map(batchAt);
  for (const batch of batches) lent.lend(batch);
  const held = () => batches.filter(({ parts }) => parts[0]?.table === "marks" && parts[0].rows.mark_id.length > 0);
  lent.stored(14);
  expect(held().map(({ position }) => position)).toEqual([11, 12, 14, 15]);
  lent.forgotten(12);
  expect(held().map(({ position }) => position)).toEqual([14, 15]);
  lent.forgotten(15);
  expect(held().map(({ position }) => position)).toEqual([15]);
  lent.stored(15);
  expect(held()).toEqual([]);
});
