// Reading a store that several collectors write to. A row that two of them took exists twice: under one key until the
// engine merges the copies, so groups with two writers are read without copies; or under two keys until the collectors
// hear of each other, so all but one of these copies are left out. All other groups are read as usual.

import { setImmediate as nextTurn } from "node:timers/promises";
import { findCopiesAcross } from "./copies-across.ts";
import { joinedGroups } from "./joined-groups.ts";
import { count, readRow } from "./reader/native-rows.ts";
import type { Query, ReadOptions, Store } from "./store.ts";

/**
 * The store for questions about the groups or runs in the parameters `groups` and `runs`. Who writes to a group, and
 * which batches, is stored before its rows, so a readable copy is always known as one.
 */
export function readSharedStore(store: Store): Store {
  if (store.kind === "embedded") return store;
  const once = createOnceReader(store);
  const exact = async <O extends ReadOptions>(query: Query, options: O): Promise<O> => ({
    ...options,
    ...(await once(query)),
  });
  return Object.assign(Object.create(store) as Store, {
    async *stream(...[query, options]: Parameters<Store["stream"]>) {
      yield* store.stream(query, await exact(query, options));
    },
    answer: async (...[query, options = {}]: Parameters<Store["answer"]>) =>
      store.answer(query, await exact(query, options)),
  });
}

/** Options with which an answer has each row once. */
type Once = Pick<ReadOptions, "withoutCopies" | "onlyRows">;

/**
 * Many questions about the same groups are asked together: they share one look at the writers. A question shares only a
 * look that begins after it, so that it never relies on an older state.
 */
function createOnceReader(store: Store): (query: Query) => Promise<Once> {
  const waiting = new Map<string, Promise<Once>>();
  const begin = async (name: string, keys: Required<Query>): Promise<Once> => {
    await nextTurn();
    waiting.delete(name);
    return readOnce(store, keys);
  };
  return async ({ params = {} }) => {
    const keys = toKeys(store, params);
    if (keys === null) return {};
    const name = JSON.stringify(keys);
    const once = waiting.get(name) ?? begin(name, keys);
    waiting.set(name, once);
    return once;
  };
}

async function readOnce(store: Store, keys: Required<Query>): Promise<Once> {
  const sql = `SELECT max(length(names)) AS most, uniqExactArray(names) AS all FROM (
    SELECT groupUniqArray(collector) AS names FROM ${store.database}.writers WHERE group_key IN ${keys.sql} GROUP BY group_key)`;
  const writers = await readRow(store, { most: count, all: count }, { sql, params: keys.params });
  const isShared = writers !== null && writers.most > 1;
  const onlyRows = writers !== null && writers.all > 1 ? await findCopiesAcross(store, keys) : null;
  return { ...(isShared ? { withoutCopies: true } : {}), ...(onlyRows === null ? {} : { onlyRows }) };
}

/** Null for a question that names no groups. */
function toKeys({ database }: Store, params: NonNullable<Query["params"]>): Required<Query> | null {
  const { groups, runs, workspace } = params;
  if (Array.isArray(groups) && groups.length > 0) return { sql: "{groups:Array(String)}", params: { groups } };
  // Exports name the runs.
  if (!Array.isArray(runs) || typeof workspace !== "string") return null;
  const sql = `(SELECT group_key FROM ${joinedGroups(database)}
    WHERE workspace = {workspace:String} AND run_id IN {runs:Array(String)})`;
  return { sql, params: { runs, workspace } };
}
