// Stores for tests: a real embedded engine in a folder of its own, and the ClickHouse server named by
// TRIBUTARY_TEST_CLICKHOUSE_URL when there is one. Each contract suite runs over all of them.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "#store/client.ts";
import type { Confinement } from "#store/engine/confinement.ts";
import type { Store } from "#store/store.ts";

export interface StoreUnderTest {
  readonly store: Store;
  /** Closes the store and leaves nothing behind. */
  close(): Promise<void>;
}

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), "tributary-test-"));
}

export async function openEmbedded(confinement?: Confinement): Promise<StoreUnderTest> {
  const dataDir = makeDataDir();
  const store = await createStore({ kind: "embedded", dataDir, ...(confinement === undefined ? {} : { confinement }) });
  return {
    store,
    close: async () => {
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function openServer(url: string): Promise<StoreUnderTest> {
  const { username, password } = new URL(url);
  const database = `tributary_test_${randomBytes(6).toString("hex")}`;
  const user = decodeURIComponent(username) || "default";
  const account = { user, password: decodeURIComponent(password) };
  const store = await createStore({ kind: "server", url, database, ...account, guestUser: user });
  return {
    store,
    close: async () => {
      for (const name of [database, `${database}_sql`]) await store.ddl(`DROP DATABASE IF EXISTS ${name} SYNC`);
      await store.close();
    },
  };
}

const serverUrl = process.env["TRIBUTARY_TEST_CLICKHOUSE_URL"];

export const storesUnderTest: readonly { readonly name: string; readonly open: () => Promise<StoreUnderTest> }[] = [
  { name: "the embedded engine", open: () => openEmbedded() },
  ...(serverUrl === undefined ? [] : [{ name: "a ClickHouse server", open: () => openServer(serverUrl) }]),
];
