// Reading a store that several collectors write to. A row that two of them took is there twice until the engine merges
// its copies, so the groups that have two writers are read without copies. All others are read as ever.

import type { Query, ReadOptions, Store } from "./store.ts";

/**
 * The store for questions about named groups, which are the parameter `groups`. Who writes to a group is stored before
 * its rows are, so a copy that can be read is known as one.
 */
export function readSharedStore(store: Store): Store {
  if (store.kind === "embedded") return store;
  const exact = async <O extends ReadOptions>(query: Query, options: O): Promise<O> =>
    (await mayHaveCopies(store, query)) ? { ...options, withoutCopies: true } : options;
  return {
    kind: store.kind,
    database: store.database,
    cluster: store.cluster,
    ddl: (sql) => store.ddl(sql),
    insert: (table, block, options) => store.insert(table, block, options),
    query: async (query, options = {}) => store.query(query, await exact(query, options)),
    async *stream(query, options) {
      yield* store.stream(query, await exact(query, options));
    },
    answer: async (query, options = {}) => store.answer(query, await exact(query, options)),
    stats: () => store.stats(),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

async function mayHaveCopies(store: Store, { params }: Query): Promise<boolean> {
  const groups = params?.["groups"];
  if (!Array.isArray(groups) || groups.length === 0) return false;
  const rows = await store.query<{ n: number }>({
    sql: `SELECT toUInt8(1) AS n FROM ${store.database}.writers WHERE group_key IN {groups:Array(String)}
      GROUP BY group_key HAVING uniqExact(collector) > 1 LIMIT 1`,
    params: { groups },
  });
  return rows.length > 0;
}
