// Removes copies of Cirron rows that two collectors took under two group keys: the least key keeps them, and they go from
// the others. Never are rows of one group told apart by anything else than their group: a merge may have left any one of
// them.

import { idColumns } from "./copies-across.ts";
import { deletionTarget } from "./delete-groups.ts";
import { type Cell, list, readRows, text } from "./reader/native-rows.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

const tables = ["spans", "marks", "snapshots"] as const;
type Table = (typeof tables)[number];

/** Of one statement, which a server takes up to a length; each costs it a rewrite of what it touches. */
const copiesAtOnce = 1000;

/** Returns how many ids were there twice. Collectors that do this at once keep the same rows. */
export async function removeCopies(store: Store, groupKeys: readonly string[]): Promise<number> {
  const removed = new Map<string, RowPlace>();
  let found = 0;
  for (const table of tables) found += await removeFrom(store, table, groupKeys, removed);
  await forgetRowPlaces(store, [...removed.values()]);
  return found;
}

/** A copy's group, and where in whose journal it was accepted. */
type RowPlace = readonly [groupKey: string, collector: string, position: string];
const copied = { id: text, places: list(list(text) as unknown as Cell<RowPlace>) };

async function removeFrom(
  store: Store,
  table: Table,
  groupKeys: readonly string[],
  removed: Map<string, RowPlace>,
): Promise<number> {
  const column = idColumns[table];
  const copies = await readRows(store, copied, {
    sql: `SELECT ${column} AS id,
        arraySort(groupUniqArray([toString(group_key), toString(collector), toString(jpos)])) AS places
      FROM ${store.database}.${table} WHERE group_key IN {groups:Array(String)}
      GROUP BY id HAVING uniqExact(group_key) > 1`,
    params: { groups: groupKeys },
  });
  const later = copies.flatMap(({ id, places }) =>
    places.filter(([groupKey]) => groupKey !== places[0]?.[0]).map((place) => ({ id, place })),
  );
  for (let at = 0; at < later.length; at += copiesAtOnce)
    await removeSome(store, table, later.slice(at, at + copiesAtOnce));
  for (const { place } of later) removed.set(place.join("\n"), place);
  return copies.length;
}

/**
 * By place too: meanwhile the run may have been deleted and sent again, and then what was found as a copy is gone and what
 * came after it is none.
 */
async function removeSome(
  store: Store,
  table: Table,
  copies: readonly { readonly id: string; readonly place: RowPlace }[],
): Promise<void> {
  const groups = new Set(copies.map(({ place: [groupKey] }) => quote(groupKey)));
  const rows = copies.map(
    ({ id, place: [groupKey, collector, position] }) =>
      `(${quote(groupKey)}, ${quote(id)}, ${quote(collector)}, ${position})`,
  );
  // The groups once more by themselves: what the tables are sorted by.
  const where = `group_key IN (${[...groups].join(", ")})
    AND (toString(group_key), ${idColumns[table]}, toString(collector), jpos) IN (${rows.join(", ")})`;
  // Points are made of marks, and know theirs.
  const targets = table === "marks" ? (["metrics", "marks"] as const) : [table];
  for (const each of targets) await store.ddl(`DELETE FROM ${deletionTarget(store, each)} WHERE ${where}`);
}

/** Readers of these groups need not look for copies any more. */
async function forgetRowPlaces(store: Store, places: readonly RowPlace[]): Promise<void> {
  for (let at = 0; at < places.length; at += copiesAtOnce) {
    const some = places.slice(at, at + copiesAtOnce);
    const groups = new Set(some.map(([groupKey]) => quote(groupKey)));
    const rows = some.map(
      ([groupKey, collector, position]) => `(${quote(groupKey)}, ${quote(collector)}, ${position})`,
    );
    await store.ddl(`DELETE FROM ${deletionTarget(store, "batch_places")}
      WHERE group_key IN (${[...groups].join(", ")}) AND (group_key, collector, position) IN (${rows.join(", ")})`);
  }
}
