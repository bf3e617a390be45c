// What a shared store knows about its collectors and about itself.

import { stateTables } from "#model/state-tables.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import { count, type RowOf, readColumn, readMap, readRow, text } from "./reader/native-rows.ts";
import type { Store } from "./store.ts";

const knownCollector = { epoch: text, position: count };
export type KnownCollector = RowOf<typeof knownCollector>;

export function readCollector(store: Store, collector: string): Promise<KnownCollector | null> {
  const sql = `SELECT epoch, position FROM ${store.database}.collectors FINAL WHERE collector = {collector:String}`;
  return readRow(store, knownCollector, { sql, params: { collector } });
}

/** By collector, a journal position up to which everything is stored. */
export function readCollectorPositions(store: Store): Promise<Map<string, number>> {
  const sql = `SELECT collector, position FROM ${store.database}.collectors FINAL`;
  return readMap(store, text, count, { sql });
}

export async function noteCollector(
  store: Store,
  row: KnownCollector & { readonly collector: string; readonly version: bigint },
): Promise<void> {
  const block = encodeObjects(stateTables.collectors, [{ ...row, position: BigInt(row.position) }]);
  await store.insert("collectors", block, { token: `collector-${row.collector}-${row.epoch}-${row.version}` });
}

const installationName = "installation:";

/**
 * The ids by which data folders recognise this store, always in the same order. There is one, unless two collectors
 * made one at the same moment: then both count.
 */
export async function readInstallations(store: Store): Promise<string[]> {
  const sql = `SELECT name FROM ${store.database}.settings FINAL WHERE workspace = '' AND startsWith(name, '${installationName}')
    ORDER BY name`;
  return (await readColumn(store, text, { sql })).map((name) => name.slice(installationName.length));
}

export async function noteInstallation(store: Store, id: string, version: bigint): Promise<void> {
  const row = { workspace: "", name: `${installationName}${id}`, value: "", author: "", version };
  await store.insert("settings", encodeObjects(stateTables.settings, [row]), { token: `installation-${id}` });
}
