import { expect, it } from "vitest";
import type { Batch } from "#model/batch.ts";
import { createRows } from "#model/tables.ts";
import { RowsInUse } from "./rows-in-use.ts";

function batchAt(position: number): Batch {
  const rows = createRows("marks");
  rows.mark_id.push(`mark ${position}`);
  return { first: position, position, parts: [{ table: "marks", rows, dropped: null }], state: [], bytes: 1 };
}

it("frees rows when they are stored and the hub has forgotten them, whichever comes last", () => {
  const rowsInUse = new RowsInUse(10);
  const batches = [11, 12, 14, 15].map(batchAt);
  for (const batch of batches) rowsInUse.add(batch);
  const held = () => batches.filter(({ parts }) => parts[0]?.table === "marks" && parts[0].rows.mark_id.length > 0);
  rowsInUse.stored(14);
  expect(held().map(({ position }) => position)).toEqual([11, 12, 14, 15]);
  rowsInUse.forgotten(12);
  expect(held().map(({ position }) => position)).toEqual([14, 15]);
  rowsInUse.forgotten(15);
  expect(held().map(({ position }) => position)).toEqual([15]);
  rowsInUse.stored(15);
  expect(held()).toEqual([]);
});
