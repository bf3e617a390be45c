// The places of the rows of a Cirron batch are stored so that copies of a batch that two collectors took are found.
// Batch ids are known for a day, so a batch that came once is not stored again under another key, and after that its
// place is useless.

import { deletionTarget } from "./delete-groups.ts";
import { count, readColumn, readValue, text } from "./reader/native-rows.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

/** Removes places from before a time, except those of batches that still have two keys; returns how many. */
export async function prunePlaces(store: Store, beforeNs: bigint): Promise<number> {
  const table = `${store.database}.batch_places`;
  const sql = `SELECT batch_id FROM ${table} GROUP BY batch_id
    HAVING min(group_key) != max(group_key) AND min(version) < {before:Int64}`;
  const doubled = await readColumn(store, text, { sql, params: { before: beforeNs } });
  const but = doubled.length === 0 ? "" : ` AND batch_id NOT IN (${doubled.map(quote).join(", ")})`;
  const where = `version < ${beforeNs}${but}`;
  const rows = (await readValue(store, count, { sql: `SELECT count() FROM ${table} WHERE ${where}` })) ?? 0;
  if (rows > 0) await store.ddl(`DELETE FROM ${deletionTarget(store, "batch_places")} WHERE ${where}`);
  return rows;
}
