// Reading a store that several collectors write to. A row that two of them took is there twice until the engine merges
// its copies, so the groups that have two writers are read without copies. All others are read as ever.

import { joinedGroups } from "./joined-groups.ts";
import type { Query, ReadOptions, Store } from "./store.ts";

/**
 * The store for questions about named groups or runs, which are the parameters `groups` and `runs`. Who writes to a group is stored before
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
  const { groups, runs, workspace } = params ?? {};
  const { database } = store;
  const marked = (keys: string): string => `SELECT toUInt8(1) AS n FROM ${database}.writers WHERE group_key IN ${keys}
      GROUP BY group_key HAVING uniqExact(collector) > 1 LIMIT 1`;
  if (Array.isArray(groups) && groups.length > 0)
    return (await store.query({ sql: marked("{groups:Array(String)}"), params: { groups } })).length > 0;
  // Exports name the runs.
  if (!Array.isArray(runs) || typeof workspace !== "string") return false;
  const keys = `(SELECT group_key FROM ${joinedGroups(database)}
    WHERE workspace = {workspace:String} AND run_id IN {runs:Array(String)})`;
  return (await store.query({ sql: marked(keys), params: { runs, workspace } })).length > 0;
}
