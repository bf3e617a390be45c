// What the rest of the server sees of the store. There is one implementation (client.ts); the embedded engine and
// a ClickHouse server differ only in their address.

import type { NativeBlock } from "./native/encode-block.ts";
import type { Params } from "./params.ts";

/** SQL with places such as `{name:Type}`, and their values, which only the store writes into the text, as literals. */
export interface Query {
  readonly sql: string;
  readonly params?: Params;
}

export interface ReadOptions {
  /** Aborting ends the query in the engine too. */
  readonly signal?: AbortSignal | undefined;
  /** How long the engine may work on it, including waits for a slow reader; 0 for ever. */
  readonly timeoutMs?: number;
  readonly rowsMax?: number;
  readonly memoryBytesMax?: number;
  /** Copies of a row count once even if they are not merged yet. Slower; for rows that may exist twice. */
  readonly withoutCopies?: boolean;
  /** By table, a condition that the rows of an answer meet. */
  readonly onlyRows?: Readonly<Record<string, string>>;
  /** Runs with a guest's rights and limits: for SQL that people write, checked by sql-guard before. */
  readonly asGuest?: boolean;
  /** Called when the turn of a guest's query comes: the embedded engine runs few of them at once. */
  readonly onBegun?: () => void;
}

/**
 * For exports and the like: they are read at the caller's pace, so the time limit of questions does not apply, and they
 * end with the caller.
 */
export const takenAway = { timeoutMs: 0 } as const satisfies ReadOptions;

/** The same store, whose questions are asked with these options. */
export function withOptions(store: Store, own: ReadOptions): Store {
  return Object.assign(Object.create(store) as Store, {
    stream: (...[query, options]: Parameters<Store["stream"]>) => store.stream(query, { ...own, ...options }),
    answer: (...[query, options]: Parameters<Store["answer"]>) => store.answer(query, { ...own, ...options }),
  });
}

/** The engine's own formats that are used. */
export type EngineFormat = "Native" | "Parquet";

export interface Answer {
  readonly header: { readonly names: readonly string[]; readonly types: readonly string[] };
  /** One JSON array a line, with 64-bit integers as decimal strings and with "NaN", "Infinity", "-Infinity". */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface StoreStats {
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
    readonly bytes: number;
    readonly parts: number;
  }[];
  /** Busy sessions and waiting callers by purpose; empty for a server. */
  readonly load: Readonly<Record<string, { readonly busy: number; readonly waiting: number }>>;
}

export interface Store {
  readonly kind: "embedded" | "server";
  readonly database: string;
  readonly cluster: string | null;
  /** How often the embedded engine was restarted; 0 for a server. */
  readonly restarts: number;
  /** While this number stays the same, these tables have the same rows. Null for a store that others may write to. */
  writesTo(tables: readonly string[]): number | null;
  ddl(sql: string): Promise<void>;
  /** Sending a block again with its token is harmless. Resolves when the rows are on disk and can be read. */
  insert(table: string, block: NativeBlock, options: InsertOptions): Promise<void>;
  /** Throws before the first chunk when the query fails, and in mid-stream when the engine goes away. */
  stream(query: Query, options: ReadOptions & { readonly format: EngineFormat }): AsyncIterable<Uint8Array>;
  /** Rows as JSON, with the columns' names and types, which are known before the first row. */
  answer(query: Query, options?: ReadOptions): Promise<Answer>;
  stats(): Promise<StoreStats>;
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

export interface InsertOptions {
  readonly token: string;
  /** A file on this machine with the same bytes; the embedded engine reads it instead. */
  readonly file?: string;
  readonly signal?: AbortSignal;
}
