// Copies of Cirron rows that two collectors took at the same moment under two group keys. The engine merges copies of
// one group by itself, but not these: one key keeps them, and they are removed from the others. Never are rows of one
// group told apart by anything else than their group: a merge may have left any one of them.

import { deletionTarget } from "./delete-groups.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

const idColumns = { spans: "span_id", marks: "mark_id", snapshots: "snapshot_id" } as const;
type Table = keyof typeof idColumns;

const idsAtOnce = 1000;

/** Returns how many ids were there twice. Collectors that do this at once keep the same rows. */
export async function removeCopies(store: Store, groupKeys: readonly string[]): Promise<number> {
  let found = 0;
  for (const table of Object.keys(idColumns) as Table[]) found += await removeFrom(store, table, groupKeys);
  return found;
}

async function removeFrom(store: Store, table: Table, groupKeys: readonly string[]): Promise<number> {
  const column = idColumns[table];
  const copies = await store.query<{ id: string; groups: string[] }>({
    sql: `SELECT ${column} AS id, arraySort(groupUniqArray(toString(group_key))) AS groups FROM ${store.database}.${table}
      WHERE group_key IN {groups:Array(String)} GROUP BY id HAVING length(groups) > 1`,
    params: { groups: groupKeys },
  });
  const later = copies.flatMap(({ id, groups }) => groups.slice(1).map((groupKey) => ({ id, groupKey })));
  for (const [groupKey, some] of Map.groupBy(later, (copy) => copy.groupKey)) {
    for (let at = 0; at < some.length; at += idsAtOnce) {
      const list = some.slice(at, at + idsAtOnce).map(({ id }) => quote(id));
      const where = `WHERE group_key = ${quote(groupKey)} AND ${column} IN (${list.join(", ")})`;
      // Points are made of marks, and know theirs.
      const tables = table === "marks" ? (["metrics", "marks"] as const) : [table];
      for (const each of tables) await store.ddl(`DELETE FROM ${deletionTarget(store, each)} ${where}`);
    }
  }
  return copies.length;
}
