// Stores for tests: a real embedded engine in a folder of its own, and the ClickHouse server named by
// TRIBUTARY_TEST_CLICKHOUSE_URL when there is one. Each contract suite runs over all of them.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "#store/client.ts";
import type { Confinement } from "#store/engine/confinement.ts";
import { migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";
import { makeMigratedFolder } from "./migrated-folder.ts";
import { suiteOf } from "./suite.ts";

export interface StoreUnderTest {
  readonly store: Store;
  /** Closes the store and leaves nothing behind. */
  close(): Promise<void>;
}

export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), "tributary-test-"));
}

/** One for all tests of a suite. */
export function suiteStore(open: () => Promise<StoreUnderTest>): Store {
  let close: StoreUnderTest["close"];
  const openStore = async () => {
    const under = await open();
    ({ close } = under);
    return under.store;
  };
  return suiteOf(openStore, () => close());
}

/** With its tables, as a server finds it. */
export async function openMigrated(confinement?: Confinement): Promise<StoreUnderTest> {
  return openEmbedded(confinement, await makeMigratedFolder());
}

export async function openEmbedded(confinement?: Confinement, dataDir = makeDataDir()): Promise<StoreUnderTest> {
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

interface NamedStore {
  readonly name: string;
  /** Without tables. */
  readonly open: () => Promise<StoreUnderTest>;
  readonly openMigrated: () => Promise<StoreUnderTest>;
}

const migrated = async (under: StoreUnderTest): Promise<StoreUnderTest> => {
  await migrate(under.store);
  return under;
};

export const storesUnderTest: readonly NamedStore[] = [
  { name: "the embedded engine", open: () => openEmbedded(), openMigrated: () => openMigrated() },
  ...(serverUrl === undefined
    ? []
    : [
        {
          name: "a ClickHouse server",
          open: () => openServer(serverUrl),
          openMigrated: async () => migrated(await openServer(serverUrl)),
        },
      ]),
];
