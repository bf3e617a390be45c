// Leases on a store that several collectors share.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createStore } from "#store/client.ts";
import { takeLease } from "#store/lease.ts";
import { migrate } from "#store/schema/migrate.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../support/ask-store.ts";
import { eventually, type SharedStore, shareStore } from "../support/several.ts";
import { makeDataDir } from "../support/store-under-test.ts";

let shared: SharedStore;
let stores: Store[];

beforeAll(async () => {
  shared = await shareStore(makeDataDir());
  const address = { kind: "server", url: shared.url, user: "default", password: "", database: "tributary" } as const;
  stores = await Promise.all([1, 2, 3].map(() => createStore(address)));
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await shared?.close();
});

test("of three that start at once on an empty store, one makes the schema, and each step once", async () => {
  await Promise.all(stores.map((store) => migrate(store)));
  const [store] = stores as [Store];
  const rows = await askStore<{ id: number; n: string }>(store, {
    sql: "SELECT id, count() AS n FROM tributary.migrations GROUP BY id ORDER BY id",
  });
  expect(rows).toEqual([0, 12, 13, 15, 16, 17, 18, 19, 20].map((id) => ({ id, n: "1" })));
});

test("one of several has a lease, until it gives it back or its time is over", async () => {
  const take = (at: number, forMs = 60_000) => takeLease(stores[at] as Store, "retention", `c${at}`, forMs);
  const taken = await Promise.all([take(0), take(1), take(2)]);
  expect(taken.filter((lease) => lease !== null)).toHaveLength(1);
  const holder = taken.findIndex((lease) => lease !== null);
  const other = (holder + 1) % 3;
  expect(await take(other)).toBe(null);
  await taken[holder]?.release();
  expect(await take(other, 1)).toBe(null);
  expect(await take(holder)).not.toBe(null);
});

test("a lease that is renewed lasts, and one whose holder was killed ends by itself", async () => {
  const take = (at: number, forMs: number) => takeLease(stores[at] as Store, "upkeep", `c${at}`, forMs);
  const held = await take(0, 1500);
  await held?.renew();
  expect(await take(1, 60_000)).toBe(null);
  await eventually(async () => (await take(1, 60_000)) !== null, "the lease does not end");
});

test("a schema that a killed collector left half made is finished by the next, which says that it waits", async () => {
  const address = { kind: "server", url: shared.url, user: "default", password: "", database: "half" } as const;
  const half = await createStore(address);
  await migrate(half);
  await half.ddl("ALTER TABLE half.migrations DELETE WHERE id = 13 SETTINGS mutations_sync = 2");
  // Of one who was killed a while ago.
  expect(await takeLease(half, "schema", "killed", 3000)).not.toBe(null);
  const said: string[] = [];
  await migrate(half, (sentence) => said.push(sentence));
  expect(said).toEqual([expect.stringContaining("waits for it")]);
  const [row] = await askStore<{ n: string }>(half, { sql: "SELECT count() AS n FROM half.migrations WHERE id = 13" });
  expect(row?.n).toBe("1");
  await half.close();
});
