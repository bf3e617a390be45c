// Copies of Cirron rows under several keys: two collectors took the same batch and knew different parts of its session.
// The engine merges copies within one group, but not these. Of each row, the copy with the smallest key counts, both
// for readers and when the others are removed (see remove-copies.ts), so a row always exists exactly once.

import { decimal, list, type RowOf, readRows, text, word } from "./reader/native-rows.ts";
import { quote } from "./sql-quote.ts";
import type { Query, Store } from "./store.ts";

/** By table, the column that a row shares with its copies. Points are made of marks and know their mark. */
export const idColumns = {
  spans: "span_id",
  marks: "mark_id",
  snapshots: "snapshot_id",
  metrics: "mark_id",
} as const;
type CopiedTable = keyof typeof idColumns;

/** Where the rows of a batch under one of its keys come from: the collector and the record of its journal. */
const batchPlace = { group_key: text, collector: text, position: decimal };
type BatchPlace = RowOf<typeof batchPlace>;

/** The places of batches that have rows under several of these keys. `keys` follows an IN. */
function readDoubledPlaces(store: Store, keys: Required<Query>): Promise<BatchPlace[]> {
  const from = `FROM ${store.database}.batch_places WHERE group_key IN ${keys.sql}`;
  return readRows(store, batchPlace, {
    sql: `SELECT DISTINCT group_key, collector, position ${from}
      AND batch_id IN (SELECT batch_id ${from} GROUP BY batch_id HAVING uniqExact(group_key) > 1)`,
    params: keys.params,
  });
}

/** By table, a condition that leaves out the copies under several of these keys; null if there are none. */
export async function findCopiesAcross(store: Store, keys: Required<Query>): Promise<Record<string, string> | null> {
  const places = await readDoubledPlaces(store, keys);
  if (places.length === 0) return null;
  const conditions: Record<string, string> = {};
  const copies = Map.groupBy(await readCopies(store, places), ({ in_table }) => in_table);
  for (const [table, some] of copies) {
    const rows = some.flatMap(({ id, keys: [, ...others] }) => others.map((key) => `(${quote(key)}, ${quote(id)})`));
    conditions[table] = `(toString(group_key), ${idColumns[table]}) NOT IN (${rows.join(", ")})`;
  }
  return copies.size === 0 ? null : conditions;
}

/** The ids that have several keys, and these keys in order. */
function readCopies(store: Store, places: readonly BatchPlace[]) {
  const groups = [...new Set(places.map(({ group_key }) => group_key))];
  const records = new Set(places.map(({ collector, position }) => `(${quote(collector)}, ${position})`));
  const each = (Object.keys(idColumns) as CopiedTable[]).map(
    (table) => `SELECT '${table}' AS in_table, toString(${idColumns[table]}) AS id,
        arraySort(groupUniqArray(toString(group_key))) AS keys
      FROM ${store.database}.${table}
      WHERE group_key IN {groups:Array(String)} AND (toString(collector), jpos) IN (${[...records].join(", ")})
      GROUP BY id HAVING length(keys) > 1`,
  );
  const row = { in_table: word<CopiedTable>(), id: text, keys: list(text) };
  return readRows(store, row, { sql: each.join("\nUNION ALL "), params: { groups } });
}
