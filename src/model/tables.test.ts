import { expect, test } from "vitest";
import { createRows, type Rows, reuseRows } from "./tables.ts";

function push(rows: Rows<"spans">, name: string, attrs: string): void {
  rows.group_key.push("default/c/one");
  rows.span_id.push("one");
  rows.parent_id.present().push(name);
  rows.name.push(name);
  rows.index.pushNull();
  rows.start_ns.pushNumber(1);
  rows.rank.push(3);
  rows.attrs.push(attrs);
}

test("columns that are used again hold nothing of the rows before", () => {
  const rows = createRows("spans");
  for (let row = 0; row < 100; row++) push(rows, `name ${row}`, "a".repeat(10_000));
  reuseRows("spans", rows);
  const again = createRows("spans");
  expect(again).toBe(rows);
  expect(Object.values(again).map((column) => column.length)).toEqual(Object.values(again).map(() => 0));
  push(again, "forward", "{}");
  expect(again.name.keys).toEqual(["forward"]);
  expect(again.parent_id.inner.at(0)).toBe("forward");
  expect(again.attrs.at(0)).toBe("{}");
  expect(again.start_ns.at(0)).toBe(1n);
  expect(again.index.isNull(0)).toBe(true);
  expect(again.attrs.byteSize).toBeLessThan(1024);
});

test("columns are used by one batch at a time", () => {
  const rows = createRows("spans");
  push(rows, "forward", "{}");
  reuseRows("spans", rows);
  const taken = [createRows("spans"), createRows("spans")];
  expect(taken[0]).not.toBe(taken[1]);
});

test("columns without rows, which many batches may share, are not given out", () => {
  const shared = createRows("marks");
  reuseRows("marks", shared);
  expect(createRows("marks")).not.toBe(shared);
});
