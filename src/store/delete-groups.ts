// Removes every row of some groups: facts, summaries, and the small tables that speak of them.

import type { Store } from "./store.ts";

const byGroup = [
  "spans",
  "marks",
  "snapshots",
  "metrics",
  "params",
  "logs",
  "events",
  "nodes",
  "lifecycle",
  "faults",
  "seq_ranges",
  "metric_summary",
  "group_times",
  "cirron_batches",
  "aliases",
  // Last: while its groups are there, an interrupted deletion is found again and finished.
  "groups",
] as const;

const keysAtOnce = 500;

export async function deleteGroups(store: Store, groupKeys: readonly string[]): Promise<void> {
  for (let at = 0; at < groupKeys.length; at += keysAtOnce) {
    const keys = groupKeys
      .slice(at, at + keysAtOnce)
      .map(quote)
      .join(", ");
    for (const table of byGroup) await store.ddl(`DELETE FROM ${target(store, table)} WHERE group_key IN (${keys})`);
  }
}

/** Groups that a deletion has hidden and not yet removed. */
export async function readHiddenGroups(store: Store): Promise<string[]> {
  const rows = await store.query<{ group_key: string }>({
    sql: `SELECT group_key FROM ${store.database}.groups FINAL WHERE deleted_ns > 0`,
  });
  return rows.map((row) => row.group_key);
}

function target(store: Store, table: string): string {
  const { database, cluster } = store;
  return cluster === null ? `${database}.${table}` : `${database}.${table}_local ON CLUSTER ${quote(cluster)}`;
}

/** A statement that changes data takes no parameters, so keys are written as literals. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
