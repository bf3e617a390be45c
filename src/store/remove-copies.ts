// Removes copies of Cirron rows that two collectors took under two group keys: the smallest key keeps its rows, the
// others lose them. Rows of one group are told apart by nothing but their group: a merge may have left any of them.

import { idColumns } from "./copies-across.ts";
import { deletionTarget } from "./delete-groups.ts";
import { type Cell, list, readRows, text } from "./reader/native-rows.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

const tables = ["spans", "marks", "snapshots"] as const;
type Table = (typeof tables)[number];

/**
 * How many copies one statement removes: a server limits its length, and each statement costs a rewrite of what it
 * touches.
 */
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
 * The place is part of the condition: the run may have been deleted and sent again meanwhile, and what came after that
 * is no copy.
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
  // The groups are also listed by themselves, because the tables are sorted by them.
  const where = `group_key IN (${[...groups].join(", ")})
    AND (toString(group_key), ${idColumns[table]}, toString(collector), jpos) IN (${rows.join(", ")})`;
  // Points are made of marks, and know theirs.
  const targets = table === "marks" ? (["metrics", "marks"] as const) : [table];
  for (const each of targets) await store.ddl(`DELETE FROM ${deletionTarget(store, each)} WHERE ${where}`);
}

/** After this, readers of these groups need not look for copies any more. */
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
