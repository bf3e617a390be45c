// Rows of any table for tests, given only the columns that matter; the others are empty, zero or null.

import { type StateTable, stateTables } from "#model/state-tables.ts";
import { type ColumnType, type FactTable, factTables } from "#model/tables.ts";
import type { NativeBlock } from "#store/native/encode-block.ts";
import { encodeObjects, type ValueOf } from "#store/native/encode-objects.ts";

type Cells = Readonly<Record<string, ValueOf[ColumnType]>>;

function emptyOf(type: string): ValueOf[ColumnType] {
  if (type.startsWith("Nullable(")) return null;
  if (type.startsWith("Array(")) return [];
  return type.includes("String") ? "" : 0;
}

export function blockOf(table: FactTable | StateTable, rows: readonly Cells[]): NativeBlock {
  const types: Readonly<Record<string, ColumnType>> = { ...factTables, ...stateTables }[table];
  for (const row of rows)
    for (const name of Object.keys(row)) if (!(name in types)) throw new Error(`no column ${name}`);
  const empty = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, emptyOf(type)]));
  return encodeObjects(
    types,
    rows.map((row) => ({ ...empty, ...row })),
  );
}
