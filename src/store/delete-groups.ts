// Removes every row of some groups: facts, summaries, and their rows in the small tables.

import { stateTables } from "#model/state-tables.ts";
import { int, type RowOf, readColumn, readRow, readRows, text } from "./reader/native-rows.ts";
import { derivedTables } from "./schema/summaries.ts";
import { factLayouts, stateLayouts } from "./schema/table-layout.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

/** The tables with rows of groups, except the table of groups itself. */
const byGroup = [...factLayouts, ...stateLayouts, ...derivedTables.map(({ target }) => target)]
  .filter(({ name, columns }) => name !== "groups" && Object.hasOwn(columns, "group_key"))
  .map(({ name }) => name);

const keysAtOnce = 500;

export async function deleteGroups(store: Store, groupKeys: readonly string[]): Promise<void> {
  for (let at = 0; at < groupKeys.length; at += keysAtOnce) {
    const keys = groupKeys.slice(at, at + keysAtOnce);
    const where = `group_key IN (${keys.map(quote).join(", ")})`;
    const remove = (table: string) => store.ddl(`DELETE FROM ${deletionTarget(store, table)} WHERE ${where}`);
    // Each waits for running merges, so they wait together.
    await Promise.all((await tablesWith(store, where)).map(remove));
    // Last, because an interrupted deletion is found by its groups and finished.
    await deleteHidden(store, where);
  }
}

/**
 * Removes the rows of hidden groups, the rows that hide them last. The engine changes one part of a table after
 * another; if a hiding row went first, somebody who reads meanwhile would see the group again.
 */
export async function deleteHidden(store: Store, where: string): Promise<void> {
  const all = `DELETE FROM ${deletionTarget(store, "groups")} WHERE ${where}`;
  await store.ddl(`${all} AND deleted_ns = 0`);
  await store.ddl(all);
}

/**
 * The tables that have such rows. On a server all of them, because another replica may have rows that this one does not
 * know of yet.
 */
async function tablesWith(store: Store, where: string): Promise<readonly string[]> {
  if (store.kind !== "embedded") return byGroup;
  const found = byGroup.map(
    (table) => `(SELECT '${table}' AS name FROM ${store.database}.${table} WHERE ${where} LIMIT 1)`,
  );
  return readColumn(store, text, { sql: found.join(" UNION ALL ") });
}

const hiddenGroup = { workspace: text, run_id: text, group_key: text };
export type HiddenGroup = RowOf<typeof hiddenGroup>;

export function readHiddenGroups(store: Store): Promise<HiddenGroup[]> {
  const sql = `SELECT workspace, run_id, group_key FROM ${store.database}.groups FINAL WHERE deleted_ns > 0`;
  return readRows(store, hiddenGroup, { sql });
}

export type NamedRun = Pick<HiddenGroup, "workspace" | "run_id">;

/**
 * The blobs to delete: those of rows of these groups, as far as `cover` is true of the rows, and those of these runs,
 * up to a time.
 */
export interface CoveredBlobs {
  readonly keys: readonly string[];
  readonly runs: readonly NamedRun[];
  readonly cover: string;
  readonly beforeNs: bigint | null;
}

/** Blobs of these groups' spans, and files stored for their runs under any name the runs had. */
function blobsOf(store: Store, { keys, runs, cover, beforeNs }: CoveredBlobs): string {
  const { database } = store;
  const groups = keys.map(quote).join(", ");
  const spansIn = (table: string) =>
    `SELECT span_id FROM ${database}.${table} WHERE group_key IN (${groups}) AND ${cover}`;
  const aliases = `SELECT toString(workspace), alias FROM ${database}.aliases WHERE group_key IN (${groups})`;
  return `workspace IN (${[...new Set(runs.map((run) => quote(run.workspace)))].join(", ")})
    AND (span_id IN (${spansIn("spans")} UNION ALL ${spansIn("snapshots")})
      OR (startsWith(kind, 'artifact:') AND ((toString(workspace), span_id) IN (${toPairs(runs)})
        OR (toString(workspace), span_id) IN (${aliases}))))
    ${beforeNs === null ? "" : `AND received_ns <= ${beforeNs}`}`;
}

/** Another workspace may have a run of the same name. */
function toPairs(runs: readonly NamedRun[]): string {
  return [...new Set(runs.map(({ workspace, run_id }) => `(${quote(workspace)}, ${quote(run_id)})`))].join(", ");
}

/** Deletes the firings of these runs up to a time, and their deliveries. */
export async function deleteFirings(store: Store, runs: readonly NamedRun[], beforeNs: bigint | null): Promise<void> {
  if (runs.length === 0) return;
  const { database } = store;
  const time = beforeNs === null ? "" : `AND fired_ns <= ${beforeNs}`;
  const where = `(toString(workspace), run_id) IN (${toPairs(runs)}) ${time}`;
  const sql = `SELECT 1 AS one FROM ${database}.firings WHERE ${where} LIMIT 1`;
  // Checked first, because a statement costs every replica time.
  if ((await readRow(store, { one: int }, { sql })) === null) return;
  const ids = `SELECT firing_id FROM ${database}.firings WHERE ${where}`;
  await store.ddl(`DELETE FROM ${deletionTarget(store, "deliveries")} WHERE firing_id IN (${ids})`);
  await store.ddl(`DELETE FROM ${deletionTarget(store, "firings")} WHERE ${where}`);
}

export function readObjectKeys(store: Store, covered: CoveredBlobs): Promise<string[]> {
  const sql = `SELECT DISTINCT object_key FROM ${store.database}.blobs FINAL WHERE ${blobsOf(store, covered)}`;
  return readColumn(store, text, { sql });
}

export async function deleteBlobRows(store: Store, covered: CoveredBlobs): Promise<void> {
  await store.ddl(`DELETE FROM ${deletionTarget(store, "blobs")} WHERE ${blobsOf(store, covered)}`);
}

/** In a cluster, rows are in a local table of each shard, while a small table is whole on all of them. */
export function deletionTarget({ database, cluster }: Pick<Store, "database" | "cluster">, table: string): string {
  if (cluster === null || Object.hasOwn(stateTables, table)) return `${database}.${table}`;
  return `${database}.${table}_local ON CLUSTER \`${cluster}\``;
}
