// Deleted rows are only marked at first. They leave the disk when their part is merged, but large parts are not merged
// any more. So if half of the rows in such parts are deleted, the parts are rewritten: each deleted row then costs
// rewriting at most one that stays.

import { factTables } from "#model/tables.ts";
import { count, list, readRows, readValue, text } from "./reader/native-rows.ts";
import type { Store } from "./store.ts";

/** Smaller parts are merged soon, or take up little space. */
const rowsMinUsual = 1_000_000;

const markedParts = { name: text, rows: count, parts: list(text) };

/** Returns the tables that are being rewritten, which the engine does little by little. */
export async function dropDeletedRows(store: Store, rowsMin: number = rowsMinUsual): Promise<string[]> {
  const { database, cluster } = store;
  const suffix = cluster === null ? "" : "_local";
  const on = cluster === null ? "" : ` ON CLUSTER \`${cluster}\``;
  const marked = await readRows(store, markedParts, {
    sql: `SELECT table AS name, sum(rows) AS rows, groupArray(p.name) AS parts FROM system.parts AS p
      WHERE active AND database = {database:String} AND table IN {tables:Array(String)} AND has_lightweight_delete
        AND table NOT IN (SELECT table FROM system.mutations WHERE database = {database:String} AND NOT is_done)
      GROUP BY table HAVING rows >= {least:UInt64} ORDER BY name`,
    params: { database, tables: Object.keys(factTables).map((table) => table + suffix), least: rowsMin },
  });
  const begun: string[] = [];
  for (const { name, rows, parts } of marked) {
    const sql = `SELECT count() FROM ${database}.${name} WHERE _part IN {parts:Array(String)}`;
    const left = (await readValue(store, count, { sql, params: { parts } })) ?? 0;
    if (left > rows / 2) continue;
    await store.ddl(`ALTER TABLE ${database}.${name}${on} APPLY DELETED MASK`);
    begun.push(name);
  }
  return begun;
}
