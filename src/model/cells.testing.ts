// One row of columns as plain values, for those who look at single rows: tests, `show`, export. Never on a hot path.

import { ArrayColumn, NullableColumn } from "#base/columns.ts";
import type { AnyColumn } from "./tables.ts";

export type Cell = string | number | bigint | null | readonly (string | number)[];

/** Columns that nobody has filled yet are left out. */
export function toCells(rows: object, row: number): Record<string, Cell> {
  const cells: Record<string, Cell> = {};
  for (const [name, column] of Object.entries(rows) as [string, AnyColumn][]) {
    if (column.length > row) cells[name] = cellOf(column, row);
  }
  return cells;
}

function cellOf(column: AnyColumn, row: number): Cell {
  if (column instanceof NullableColumn) return column.isNull(row) ? null : column.inner.at(row);
  if (column instanceof ArrayColumn) {
    const items: (string | number)[] = [];
    const start = row === 0 ? 0 : column.ends.at(row - 1);
    for (let item = start; item < column.ends.at(row); item++) items.push(column.items.at(item));
    return items;
  }
  return column.at(row);
}
