// Copies of Cirron rows that two collectors took at the same moment under two group keys. The engine merges copies of
// one group by itself, but not these: the one that came first stays, and the others are removed.

import { deletionTarget } from "./delete-groups.ts";
import type { Store } from "./store.ts";

const idColumns = { spans: "span_id", marks: "mark_id", snapshots: "snapshot_id" } as const;
type Table = keyof typeof idColumns;

export interface Copies {
  readonly groupKeys: readonly string[];
  readonly ids: { readonly [T in Table]: readonly string[] };
}

interface Copy {
  readonly id: string;
  readonly group_key: string;
  readonly received_ns: string;
}

const idsAtOnce = 1000;

/** Returns how many rows were removed. Collectors that do this at once remove the same rows. */
export async function removeCopies(store: Store, { groupKeys, ids }: Copies): Promise<number> {
  let removed = 0;
  for (const table of Object.keys(idColumns) as Table[])
    for (let at = 0; at < ids[table].length; at += idsAtOnce)
      removed += await removeFrom(store, table, groupKeys, ids[table].slice(at, at + idsAtOnce));
  return removed;
}

async function removeFrom(
  store: Store,
  table: Table,
  groupKeys: readonly string[],
  ids: readonly string[],
): Promise<number> {
  const column = idColumns[table];
  const copies = await store.query<Copy>({
    sql: `SELECT DISTINCT ${column} AS id, group_key, received_ns FROM ${store.database}.${table}
      WHERE group_key IN {groups:Array(String)} AND ${column} IN {ids:Array(String)}`,
    params: { groups: groupKeys, ids },
  });
  const later = [...Map.groupBy(copies, ({ id }) => id).values()].flatMap((same) => same.sort(byArrival).slice(1));
  for (const some of Map.groupBy(later, (copy) => `${copy.received_ns} ${copy.group_key}`).values()) {
    const [{ group_key, received_ns }] = some as [Copy];
    const list = some.map(({ id }) => quote(id)).join(", ");
    const where = `WHERE group_key = ${quote(group_key)} AND received_ns = ${received_ns} AND ${column} IN (${list})`;
    // Points are made of marks, and know theirs.
    const tables = table === "marks" ? (["metrics", "marks"] as const) : [table];
    for (const each of tables) await store.ddl(`DELETE FROM ${deletionTarget(store, each)} ${where}`);
  }
  return later.length;
}

function byArrival(a: Copy, b: Copy): number {
  const difference = BigInt(a.received_ns) - BigInt(b.received_ns);
  return difference === 0n ? (a.group_key < b.group_key ? -1 : 1) : difference < 0n ? -1 : 1;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
