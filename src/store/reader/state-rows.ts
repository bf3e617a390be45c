// Rows of the small tables as they are. What a row looks like is said once, where the table is defined.

import { type StateRow, type StateTable, stateTables } from "#model/state-tables.ts";
import type { Query, Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import { big, type Cell, int, nullable, readRows, text } from "./native-rows.ts";

const cells = {
  String: text,
  "LowCardinality(String)": text,
  Int64: big,
  Int32: int,
  UInt32: int,
  UInt8: int,
  "Nullable(String)": nullable(text),
  "Nullable(Int64)": nullable(big),
} as const;

/** The newest version of each row that `which` is true of; it may also say their order and how many. */
export async function readStateRows<T extends StateTable>(
  store: Store,
  table: T,
  which = "",
  params: NonNullable<Query["params"]> = {},
): Promise<StateRow<T>[]> {
  const columns = Object.entries(stateTables[table]) as [string, keyof typeof cells][];
  const shape = Object.fromEntries(columns.map(([name, type]): [string, Cell<unknown>] => [name, cells[type]]));
  const names = columns.map(([name]) => `\`${name}\``).join(", ");
  const sql = `SELECT ${names} FROM ${store.database}.${table} FINAL ${which}`;
  return (await readRows(store, shape, { sql, params })) as unknown as StateRow<T>[];
}

/** The rows of these groups, in one of the tables that have a group for their key. */
export function readGroupRows<T extends "aliases" | "cirron_components" | "groups">(
  store: Store,
  table: T,
  groups: readonly string[],
): Promise<StateRow<T>[]> {
  return readStateRows(store, table, `WHERE ${inGroups}`, { groups });
}
