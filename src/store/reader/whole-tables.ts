// Whole tables, as a backup takes and restores them.

import { type FactTable, factTables } from "#model/tables.ts";
import { quote } from "#store/sql-quote.ts";
import { type Store, takenAway } from "#store/store.ts";
import { count, readColumn, readValue, text } from "./native-rows.ts";

/** All rows of a table, or those that came up to a journal record, in the engine's own format. */
export function streamTable(store: Store, table: string, lastJpos: number | null): AsyncIterable<Uint8Array> {
  const sql = `SELECT * FROM ${store.database}.${table} ${upTo(table, lastJpos)}`;
  return store.stream({ sql }, { ...takenAway, format: "Native" });
}

export function countTable(store: Store, table: string, lastJpos: number | null = null): Promise<number> {
  return countOf(store, `${table} ${upTo(table, lastJpos)}`);
}

/** Inserts what `streamTable` gave, from a file on this machine. */
export function fillTable(store: Store, table: string, path: string): Promise<void> {
  return store.ddl(`INSERT INTO ${store.database}.${table} FROM INFILE ${quote(path)} FORMAT Native`);
}

export function countDeletions(store: Store): Promise<number> {
  return countOf(store, "audit FINAL WHERE action = 'run_deleted'");
}

export function readBlobKeys(store: Store): Promise<string[]> {
  const sql = `SELECT object_key FROM ${store.database}.blobs FINAL WHERE deleted = 0 ORDER BY object_key`;
  return readColumn(store, text, { sql });
}

/** A table that only helps to find rows is taken whole: entries for rows that are not there are harmless. */
function upTo(table: string, lastJpos: number | null): string {
  const columns: object = factTables[table as FactTable] ?? {};
  return lastJpos === null || !("jpos" in columns) ? "" : `WHERE jpos <= ${lastJpos}`;
}

async function countOf(store: Store, what: string): Promise<number> {
  return (await readValue(store, count, { sql: `SELECT count() FROM ${store.database}.${what}` })) ?? 0;
}
