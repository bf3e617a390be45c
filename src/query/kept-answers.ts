// Small answers of the embedded engine, kept for as long as nothing was written to the tables that they come from. A page
// asks much about a run that seldom changes, and to plan a question costs the engine more than to answer it.

import type { Query, ReadOptions, Store } from "#store/store.ts";
import type { Kept, KeptShelf } from "./kept.ts";

const answerBytesMax = 64 * 1024;
/** To compare a longer list takes as long as to ask. */
const listLengthMax = 200;

interface KeptAnswer {
  /** What `writesTo` said before the question was asked. */
  readonly writes: number;
  readonly bytes: Uint8Array;
}

/** The same store, which answers from `kept` where it may. */
export function keepAnswers(store: Store, kept: Kept): Store {
  if (store.writesTo([]) === null) return store;
  const shelf = kept.shelf<KeptAnswer>("answers");
  const tablesOf = createTableFinder(store.database);
  return Object.assign(Object.create(store) as Store, {
    async *stream(query: Query, options: Parameters<Store["stream"]>[1]): AsyncGenerator<Uint8Array, void> {
      const key = options.format === "Native" && options.asGuest !== true ? toKey(query, options) : null;
      const tables = key === null ? [] : tablesOf(query.sql);
      if (key === null || tables.length === 0) {
        yield* store.stream(query, options);
        return;
      }
      const writes = store.writesTo(tables) as number;
      const known = shelf.get(key);
      // A copy for each: what is read out of an answer may be views of its bytes.
      if (known?.writes === writes) yield new Uint8Array(known.bytes);
      else yield* keepWhole(store.stream(query, options), shelf, { key, writes });
    },
  });
}

async function* keepWhole(
  answer: AsyncIterable<Uint8Array>,
  shelf: KeptShelf<KeptAnswer>,
  { key, writes }: { readonly key: string; readonly writes: number },
): AsyncGenerator<Uint8Array> {
  let size = 0;
  let chunks: Uint8Array[] = [];
  for await (const chunk of answer) {
    size += chunk.length;
    if (size <= answerBytesMax) chunks.push(new Uint8Array(chunk));
    else chunks = [];
    yield chunk;
  }
  if (size > answerBytesMax) shelf.delete(key);
  else shelf.set(key, { writes, bytes: Buffer.concat(chunks) }, size + 2 * key.length);
}

/** Null for a question that is not worth it. */
function toKey({ sql, params = {} }: Query, { signal, ...options }: ReadOptions): string | null {
  const isLong = Object.values(params).some((value) => Array.isArray(value) && value.length > listLengthMax);
  if (isLong) return null;
  return JSON.stringify([sql, params, options], (_, value) => (typeof value === "bigint" ? `${value}n` : value));
}

/** Answers that may change without a write: about the engine's own tables, the time, and views, whose tables do not show. */
const changing = /\bsystem\.|\bnow(?:64)?\(|_sql\./;

/** The tables that a question names; none when its answer may change by itself. */
function createTableFinder(database: string): (sql: string) => readonly string[] {
  const named = new RegExp(`\\b${database}\\.(\\w+)`, "g");
  return (sql) =>
    changing.test(sql) ? [] : [...new Set(Array.from(sql.matchAll(named), ([, table]) => table as string))];
}
