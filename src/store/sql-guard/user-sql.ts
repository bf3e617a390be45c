// SQL that people write, from its text to its answer: checked here, then run with a guest's rights and limits.

import { StoreOutage } from "#store/outage.ts";
import { readRows, text } from "#store/reader/native-rows.ts";
import { guestDatabaseOf, viewSelects } from "#store/schema/views.ts";
import type { Answer, EngineFormat, Store } from "#store/store.ts";
import { type CheckedSql, checkSql, type GuardOptions } from "./guard.ts";

export function guardOptionsOf(database: string): GuardOptions {
  return {
    tables: new Set(Object.keys(viewSelects(database))),
    database: guestDatabaseOf(database),
    hiddenDatabase: database,
  };
}

export function checkUserSql(store: Store, sql: string): CheckedSql {
  return checkSql(sql, guardOptionsOf(store.database));
}

/** How long the next rows of an answer may take, and the caller's signal. */
export interface GuestPatience {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** `sql` is what `checkUserSql` returned. Ending the answer early ends the query. */
export async function answerUserSql(store: Store, sql: string, patience: GuestPatience): Promise<Answer> {
  const watch = new Watch(patience);
  const { signal, onBegun } = watch;
  const { header, chunks } = await watch.wait(store.answer({ sql }, { asGuest: true, signal, onBegun }));
  return { header, chunks: watch.follow(chunks) };
}

export function streamUserSql(
  store: Store,
  sql: string,
  format: EngineFormat,
  patience: GuestPatience,
): AsyncGenerator<Uint8Array> {
  const watch = new Watch(patience);
  const { signal, onBegun } = watch;
  return watch.follow(store.stream({ sql }, { asGuest: true, format, signal, onBegun }));
}

/** How long the engine may take to end a query itself before it is ended from here. */
const graceMs = 2000;

/**
 * The engine checks the time only between blocks, and a single function call may never reach the end of one. Waiting
 * for other queries does not count as a query's own time; one that waits too long for its turn is told so.
 */
class Watch {
  readonly signal: AbortSignal;
  readonly onBegun = (): void => {
    this.isBegun = true;
    this.restart();
  };
  private readonly late = new AbortController();
  private readonly timeoutMs: number;
  private isBegun = false;
  private timer: NodeJS.Timeout | undefined;

  constructor({ timeoutMs, signal }: GuestPatience) {
    this.timeoutMs = timeoutMs;
    this.signal = AbortSignal.any([signal, this.late.signal]);
  }

  async wait<T>(next: Promise<T>): Promise<T> {
    this.restart();
    try {
      return await next;
    } catch (error) {
      if (!this.late.signal.aborted) throw error;
      if (!this.isBegun)
        throw new StoreOutage("overloaded", "other queries of people had every turn", { cause: error });
      throw new StoreOutage("timeout", `The query took longer than ${this.timeoutMs / 1000} s.`, { cause: error });
    } finally {
      clearTimeout(this.timer);
    }
  }

  private restart(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.late.abort(), this.timeoutMs + graceMs);
  }

  async *follow(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const rest = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.wait(rest.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      await rest.return?.();
    }
  }
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
