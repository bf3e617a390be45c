// What tests ask a store in SQL of their own: rows as objects, with the words that the API has for their values.

import { text } from "node:stream/consumers";
import type { Query, ReadOptions, Store } from "#store/store.ts";

export async function askStore<T>(store: Store, query: Query, options?: ReadOptions): Promise<T[]> {
  const { header, chunks } = await store.answer(query, options);
  const lines = (await text(chunks)).split("\n").slice(0, -1);
  return lines.map((line) => {
    const cells = JSON.parse(line) as unknown[];
    return Object.fromEntries(header.names.map((name, at) => [name, cells[at]])) as T;
  });
}
