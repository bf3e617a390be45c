import { expect, it } from "vitest";
import { ArrayColumn, DictColumn, Int64Column, NullableColumn, StringColumn } from "#base/columns.ts";
import { appendRows } from "./append-rows.ts";
import { type AnyColumn, createRows, type FactTable, factTables, type Rows } from "./tables.ts";

const tables = Object.keys(factTables) as FactTable[];
const columnsOf = (rows: Rows<FactTable>): [string, AnyColumn][] => Object.entries(rows);

/** A value that says which row it is of; every third row has none, texts are short and long. */
function pushValue(column: AnyColumn, seed: number): void {
  if (column instanceof StringColumn) column.push("é".repeat(seed % 3 === 2 ? 90 : seed % 3) + String(seed));
  else if (column instanceof DictColumn) column.push(`word ${seed % 5}`);
  else if (column instanceof Int64Column) column.pushBigInt(BigInt(seed) * -4_294_967_297n);
  else if (column instanceof NullableColumn) {
    if (seed % 3 === 0) column.pushNull();
    else pushValue(column.present(), seed);
  } else if (column instanceof ArrayColumn) {
    for (let item = 0; item < seed % 4; item++) pushValue(column.items, seed + item);
    column.finishRow();
  } else column.push(seed % 200);
}

function fill(table: FactTable, count: number, seed: number): Rows<FactTable> {
  const rows = createRows(table) as Rows<FactTable>;
  for (const [, column] of columnsOf(rows)) for (let row = 0; row < count; row++) pushValue(column, seed + row);
  return rows;
}

function readValue(column: AnyColumn, row: number): unknown {
  if (column instanceof NullableColumn) return column.isNull(row) ? null : readValue(column.inner, row);
  if (!(column instanceof ArrayColumn)) return column.at(row);
  const from = row === 0 ? 0 : column.ends.at(row - 1);
  return Array.from({ length: column.ends.at(row) - from }, (_, item) => readValue(column.items, from + item));
}

const readRows = (rows: Rows<FactTable>): Record<string, unknown>[] =>
  Array.from({ length: rows.group_key.length }, (_, row) =>
    Object.fromEntries(columnsOf(rows).map(([name, column]) => [name, readValue(column, row)])),
  );

it.each(tables)("puts rows of %s behind others, without those that are dropped", (table) => {
  const into = fill(table, 3, 1);
  const [first, second] = [fill(table, 7, 10), fill(table, 40, 20)];
  const before = [into, first, second].map(readRows);
  appendRows(table, into, first, Uint8Array.from([1, 0, 0, 1, 1, 0, 1]));
  appendRows(table, into, second, null);
  appendRows(table, into, fill(table, 2, 70), Uint8Array.from([1, 1]));
  const kept = before[1]?.filter((_, row) => [1, 2, 5].includes(row));
  expect(readRows(into)).toEqual([...(before[0] ?? []), ...(kept ?? []), ...(before[2] ?? [])]);
  expect(readRows(second)).toEqual(before[2]);
});
