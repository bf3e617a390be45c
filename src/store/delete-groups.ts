// Removes every row of some groups: facts, summaries, and the small tables that speak of them.

import { stateTables } from "#model/state-tables.ts";
import { quote } from "./sql-quote.ts";
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
  "metric_by_key",
  "param_by_key",
  "group_times",
  "cirron_batches",
  "cirron_components",
  "cirron_ids",
  "aliases",
  "writers",
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
    for (const table of byGroup)
      await store.ddl(`DELETE FROM ${deletionTarget(store, table)} WHERE group_key IN (${keys})`);
  }
}

export interface HiddenGroup {
  readonly workspace: string;
  readonly run_id: string;
  readonly group_key: string;
}

/** Groups that a deletion has hidden and not yet removed. */
export function readHiddenGroups(store: Store): Promise<HiddenGroup[]> {
  return store.query({
    sql: `SELECT workspace, run_id, group_key FROM ${store.database}.groups FINAL WHERE deleted_ns > 0`,
  });
}

/** What goes with blobs: rows of these groups, of which `cover` says which, and runs up to a time. */
export interface CoveredBlobs {
  readonly keys: readonly string[];
  readonly runs: readonly string[];
  readonly cover: string;
  readonly beforeNs: bigint | null;
}

/** Blobs of these groups' spans, and files stored for their runs under any name the runs had. */
function blobsOf(store: Store, { keys, runs, cover, beforeNs }: CoveredBlobs): string {
  const { database } = store;
  const groups = keys.map(quote).join(", ");
  const spansIn = (table: string) =>
    `SELECT span_id FROM ${database}.${table} WHERE group_key IN (${groups}) AND ${cover}`;
  return `(span_id IN (${spansIn("spans")} UNION ALL ${spansIn("snapshots")})
    OR (startsWith(kind, 'artifact:') AND (span_id IN (${runs.map(quote).join(", ")})
      OR span_id IN (SELECT alias FROM ${database}.aliases WHERE group_key IN (${groups})))))
    ${beforeNs === null ? "" : `AND received_ns <= ${beforeNs}`}`;
}

export async function readObjectKeys(store: Store, covered: CoveredBlobs): Promise<string[]> {
  const sql = `SELECT DISTINCT object_key FROM ${store.database}.blobs FINAL WHERE ${blobsOf(store, covered)}`;
  return (await store.query<{ object_key: string }>({ sql })).map((row) => row.object_key);
}

export async function deleteBlobRows(store: Store, covered: CoveredBlobs): Promise<void> {
  await store.ddl(`DELETE FROM ${deletionTarget(store, "blobs")} WHERE ${blobsOf(store, covered)}`);
}

/** In a cluster rows lie in a local table of each shard, while a small table is whole on all of them. */
export function deletionTarget({ database, cluster }: Pick<Store, "database" | "cluster">, table: string): string {
  if (cluster === null || Object.hasOwn(stateTables, table)) return `${database}.${table}`;
  return `${database}.${table}_local ON CLUSTER \`${cluster}\``;
}
