// SQL that people write, from its text to its answer: checked here, then run with a guest's rights and limits.

import { readRows, text } from "#store/reader/native-rows.ts";
import { guestDatabaseOf, viewSelects } from "#store/schema/views.ts";
import type { Answer, EngineFormat, Store } from "#store/store.ts";
import { checkSql, type GuardOptions, type Verdict } from "./guard.ts";

export function guardOptionsOf(database: string): GuardOptions {
  return {
    tables: new Set(Object.keys(viewSelects(database))),
    database: guestDatabaseOf(database),
    hiddenDatabase: database,
  };
}

export function checkUserSql(store: Store, sql: string): Verdict {
  return checkSql(sql, guardOptionsOf(store.database));
}

/** `sql` is what `checkUserSql` gave back. Ending the answer early ends the query. */
export function answerUserSql(store: Store, sql: string, signal?: AbortSignal): Promise<Answer> {
  return store.answer({ sql }, { asGuest: true, signal });
}

export function streamUserSql(
  store: Store,
  sql: string,
  format: EngineFormat,
  signal?: AbortSignal,
): AsyncIterable<Uint8Array> {
  return store.stream({ sql }, { asGuest: true, format, signal });
}

/** The columns of everything that a guest sees. */
export function readGuestColumns(store: Store) {
  return readRows(
    store,
    { table: text, name: text, type: text },
    {
      sql: `SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY table, position`,
      params: { database: guestDatabaseOf(store.database) },
    },
  );
}
