// A folder that no server uses, filled by SQL straight into the engine.

import { setTimeout as sleep } from "node:timers/promises";
import { createStore } from "#store/client.ts";
import { copyMetricsByKey } from "#store/metrics-by-key.ts";
import { count, readRow } from "#store/reader/native-rows.ts";
import { migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";

export async function fillStore(dataDir: string, fill: (store: Store) => Promise<void>): Promise<void> {
  const store = await createStore({ kind: "embedded", dataDir });
  try {
    await migrate(store);
    await fill(store);
    // As a server that has run for a while has done.
    await copyMetricsByKey(store);
  } finally {
    await store.close();
  }
}

const rowsAtOnce = 1_000_000;
const smallBlocks = "SETTINGS max_threads = 2, max_block_size = 65536, min_insert_block_size_bytes = 0";

/** `into` is a table with its columns, `select` what stands in them for each `number` below `rows`. */
export async function fillTable(store: Store, rows: number, into: string, select: string): Promise<void> {
  for (let done = 0; done < rows; done += rowsAtOnce)
    await store.ddl(`INSERT INTO ${store.database}.${into}
      SELECT ${select} FROM numbers(${done}, ${Math.min(rowsAtOnce, rows - done)}) ${smallBlocks}`);
}

/** A store that was filled within minutes merges for minutes more, which one that grew for a year has behind it. */
export async function settle(store: Store): Promise<void> {
  for (let quiet = 0, tries = 0; quiet < 3 && tries < 600; tries++) {
    const row = await readRow(store, { merges: count }, { sql: "SELECT count() AS merges FROM system.merges" });
    quiet = row?.merges === 0 ? quiet + 1 : 0;
    await sleep(1000);
  }
}
