// Carries out an order of deletion-orders.ts in the store. Everything here may be repeated, by any collector and at any
// time: rows are removed by their place, and a group with rows after the order gets back what is derived from them.

import { randomUUID } from "node:crypto";
import { stateTables } from "#model/state-tables.ts";
import { type FactTable, factTables, hasPlace } from "#model/tables.ts";
import type { BlobStore } from "./blobs/blob-store.ts";
import { deleteBlobRows, deleteFirings, deleteHidden, deletionTarget, readObjectKeys } from "./delete-groups.ts";
import { type DeletionFact, keysOf } from "./deletion-orders.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import { count, readColumn, readMap, text } from "./reader/native-rows.ts";
import { fillCirronIds } from "./schema/cirron-ids.ts";
import { paramsByKey, type Summary, summaries } from "./schema/summaries.ts";
import { quote } from "./sql-quote.ts";
import type { Store } from "./store.ts";

const placed = (Object.keys(factTables) as FactTable[]).filter(hasPlace);
const derived = ["metric_summary", "metric_by_key", "param_by_key", "group_times", "cirron_ids"] as const;
/** The groups come last: until then a run is hidden rather than half gone. */
const small = ["cirron_batches", "cirron_components", "aliases", "writers", "batch_places", "groups"] as const;

const keysAtOnce = 500;

export async function removeCovered(store: Store, blobs: BlobStore, order: DeletionFact): Promise<void> {
  const all = keysOf(order);
  for (let at = 0; at < all.length; at += keysAtOnce) {
    const keys = all.slice(at, at + keysAtOnce);
    const cover = toCover(order);
    const covered = { keys, runs: order.groups, cover, beforeNs: order.atNs };
    for (const objectKey of await readObjectKeys(store, covered)) await blobs.delete(objectKey);
    await deleteBlobRows(store, covered);
    await deleteFirings(store, order.groups, order.atNs);
    await deleteRows(store, placed, keys, cover);
    const left = await findLeft(store, keys);
    const gone = keys.filter((key) => !left.has(key));
    await deleteRows(store, [...derived, ...small], gone);
    // By time: if a batch is remembered needlessly, its rows still tell.
    await deleteRows(store, ["cirron_batches"], [...left], `received_ns <= ${order.atNs}`);
    await revive(store, order, left);
    // Rows that arrived during the deletion have lost what is derived from them.
    await revive(store, order, await findLeft(store, gone));
  }
}

/** For a collector that has stored rows of these groups after the order, before it heard of it. */
export async function reviveLeft(store: Store, order: DeletionFact): Promise<void> {
  await revive(store, order, await findLeft(store, keysOf(order)));
}

/**
 * The last stored position of each collector in these groups: of all their rows, or of those that came before a time.
 */
export function readGroupPositions(
  store: Store,
  keys: readonly string[],
  beforeNs?: bigint,
): Promise<Map<string, number>> {
  const where = `group_key IN {groups:Array(String)}${beforeNs === undefined ? "" : " AND received_ns < {before:Int64}"}`;
  const each = placed.map((table) => `SELECT collector, jpos FROM ${store.database}.${table} WHERE ${where}`);
  const sql = `SELECT toString(collector) AS name, max(jpos) AS last FROM (${each.join(" UNION ALL ")}) GROUP BY name`;
  const params = { groups: keys, ...(beforeNs === undefined ? {} : { before: beforeNs }) };
  return readMap(store, text, count, { sql, params });
}

function toCover({ covered }: DeletionFact): string {
  const each = Object.entries(covered).map(([name, last]) => `(collector = ${quote(name)} AND jpos <= ${last})`);
  return `(${["collector = ''", ...each].join(" OR ")})`;
}

/** A statement costs every replica time, so only tables with such rows get one. */
async function deleteRows(
  store: Store,
  tables: readonly string[],
  keys: readonly string[],
  cover = "1",
): Promise<void> {
  if (keys.length === 0) return;
  const where = `group_key IN (${keys.map(quote).join(", ")}) AND ${cover}`;
  const each = tables.map(
    (table) => `SELECT '${table}' AS name FROM (SELECT 1 FROM ${store.database}.${table} WHERE ${where} LIMIT 1)`,
  );
  const found = new Set(await readColumn(store, text, { sql: each.join(" UNION ALL ") }));
  for (const table of tables.filter((name) => found.has(name)))
    if (table === "groups") await deleteHidden(store, where);
    else await store.ddl(`DELETE FROM ${deletionTarget(store, table)} WHERE ${where}`);
}

async function findLeft(store: Store, keys: readonly string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const each = placed.map(
    (table) => `SELECT DISTINCT group_key FROM ${store.database}.${table} WHERE group_key IN {groups:Array(String)}`,
  );
  const sql = `SELECT DISTINCT toString(group_key) AS name FROM (${each.join(" UNION ALL ")})`;
  return new Set(await readColumn(store, text, { sql, params: { groups: keys } }));
}

/** Rebuilds everything derived from rows, from the rows that are left, and shows the groups again. */
async function revive(store: Store, order: DeletionFact, keys: ReadonlySet<string>): Promise<void> {
  if (keys.size === 0) return;
  const { database } = store;
  const mine = `group_key IN (${[...keys].map(quote).join(", ")})`;
  await deleteRows(store, derived, [...keys]);
  for (const summary of [...summaries, paramsByKey])
    for (const sql of toFills(database, summary, mine)) await store.ddl(sql);
  for (const sql of fillCirronIds(database, mine)) await store.ddl(sql);
  const from = placed.map((table) => `SELECT group_key, collector FROM ${database}.${table} WHERE ${mine}`);
  await store.ddl(`INSERT INTO ${database}.writers (group_key, collector, version)
SELECT DISTINCT toString(group_key), toString(collector), ${order.version} FROM (${from.join(" UNION ALL ")})
WHERE collector != ''`);
  const version = order.version + 1n;
  const groups = order.groups.filter(({ group_key }) => keys.has(group_key));
  const aliases = order.aliases.filter(({ group_key }) => keys.has(group_key));
  const token = `revive-${randomUUID()}`;
  const shown = groups.map((row) => ({ ...row, deleted_ns: 0n, version }));
  await store.insert("groups", encodeObjects(stateTables.groups, shown), { token });
  await store.insert("aliases", encodeObjects(stateTables.aliases, aliases), { token });
}

function toFills(database: string, { target, sources }: Summary, mine: string): string[] {
  const names = Object.keys(target.columns).map((name) => `\`${name}\``);
  return Object.entries(sources).map(([source, select]) => {
    const some = select.replaceAll("@", `(SELECT * FROM ${database}.${source} WHERE ${mine})`);
    return `INSERT INTO ${database}.${target.name} (${names.join(", ")}) SELECT ${names.join(", ")} FROM (${some})`;
  });
}
