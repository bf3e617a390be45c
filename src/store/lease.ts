// Decides which collector of a shared store does what one should do for all: update the schema, remove old runs. A
// lease is a row with an end. A collector that wants one says so, waits until the others can be read, and has it if
// nobody asked before. If the store is slow, two may still have it at once; so whatever is done under a lease may be
// done twice.

import { setTimeout as sleep } from "node:timers/promises";
import { nowNs } from "#base/clock.ts";
import { encodeObjects } from "./native/encode-objects.ts";
import { readRow, text } from "./reader/native-rows.ts";
import type { TableLayout } from "./schema/table-layout.ts";
import type { Store } from "./store.ts";

const columns = {
  name: "String",
  holder: "String",
  since_ns: "Int64",
  until_ns: "Int64",
  version: "Int64",
} as const;

export const leasesLayout: TableLayout = {
  name: "leases",
  columns,
  codecs: {},
  indexes: [],
  engine: { name: "ReplacingMergeTree", version: "version" },
  orderBy: ["name", "holder"],
  shardBy: null,
};

export interface Lease {
  /** Makes it last from now on as long as when it was taken. */
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** Longer than it takes others to see an insert. */
const settleMs = 200;

/** Null if another collector has it. On an embedded store there is no other. */
export async function takeLease(store: Store, name: string, holder: string, forMs: number): Promise<Lease | null> {
  if (store.kind === "embedded") return { renew: nothing, release: nothing };
  const since = nowNs();
  const end = (): bigint => nowNs() + BigInt(forMs) * 1_000_000n;
  const note = async (until_ns: bigint): Promise<void> => {
    const row = { name, holder, since_ns: since, until_ns, version: nowNs() };
    await store.insert("leases", encodeObjects(columns, [row]), { token: `lease-${name}-${holder}-${row.version}` });
  };
  await note(end());
  await sleep(settleMs);
  const sql = `SELECT holder FROM ${store.database}.leases FINAL
    WHERE name = {name:String} AND until_ns > {now:Int64} ORDER BY since_ns, holder LIMIT 1`;
  const first = await readRow(store, { holder: text }, { sql, params: { name, now: nowNs() } });
  if (first?.holder === holder) return { renew: () => note(end()), release: () => note(0n) };
  await note(0n);
  return null;
}

async function nothing(): Promise<void> {}
