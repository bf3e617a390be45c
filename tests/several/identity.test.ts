// Data folders on a store that several collectors share: a copy of one is a collector of its own, and none joins another store.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { suiteFolder } from "../support/folder.ts";
import { eventually, freePort, natsPath, type SharedStore, startNats, startSharedStore } from "../support/several.ts";

let shared: SharedStore;
const folder = suiteFolder();
const apps: TestApp[] = [];
const open = async (flags: Parameters<typeof createTestApp>[0] = {}): Promise<TestApp> => {
  const app = await createTestApp({ storeUrl: shared.url, storeGuestUser: "guest", ...flags });
  apps.push(app);
  return app;
};
const post = async (app: TestApp, run: string, at: number) => {
  const batch = toBatchText(`${run}${at}`, [{ id: `${run}s${at}`, parent: null, name: "step", at }]);
  expect((await app.post(`/v1/runs/${run}/traces?wait=1`, batch)).status).toBe(202);
};
const spansOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}`)).body as { counts?: { spans?: number } }).counts?.spans;
const eventsOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}/events?limit=1000`)).body as { events: unknown[] }).events.length;
const nameIn = async (dataDir: string) => (await readFile(join(dataDir, "collector"))).subarray(4).toString();

beforeAll(async () => {
  shared = await startSharedStore();
});
afterAll(async () => {
  for (const app of apps) await app.remove();
  await shared?.close();
});

test("a folder that was restored from a snapshot stores what it accepts, as a new collector", async () => {
  const before = await open();
  for (let at = 0; at < 3; at++) await post(before, "restored", at);
  const snapshot = join(folder, "snapshot");
  await cp(before.dataDir, snapshot, { recursive: true });
  for (let at = 3; at < 6; at++) await post(before, "restored", at);
  await before.app.close();
  const after = await open({ dataDir: snapshot });
  expect(after.app.collector.id).not.toBe(before.app.collector.id);
  for (let at = 6; at < 12; at++) await post(after, "restored", at);
  expect(await spansOf(after, "restored")).toBe(12);
  expect(await eventsOf(after, "restored")).toBe(24);
});

test("a folder that was copied and started after the original was is a new collector too", async () => {
  const first = await open();
  await post(first, "copied", 0);
  await first.app.close();
  const copy = join(folder, "copy");
  await cp(first.dataDir, copy, { recursive: true });
  await first.reopen();
  const second = await open({ dataDir: copy });
  expect(second.app.collector.id).not.toBe(first.app.collector.id);
  await Promise.all([1, 2, 3].map((at) => post(at === 2 ? first : second, "copied", at)));
  for (const app of [first, second]) expect(await spansOf(app, "copied")).toBe(4);
});

test("an ordinary restart keeps the name", async () => {
  const app = await open();
  await post(app, "again", 0);
  const { id } = app.app.collector;
  await app.reopen();
  expect(app.app.collector.id).toBe(id);
  await post(app, "again", 1);
  expect(await spansOf(app, "again")).toBe(2);
});

test("a folder does not join another store than its own", async () => {
  const app = await open();
  await app.app.close();
  const other = await startSharedStore();
  try {
    await expect(createTestApp({ storeUrl: other.url, dataDir: app.dataDir })).rejects.toThrow(
      /belongs to another store/,
    );
  } finally {
    await other.close();
  }
  await app.reopen();
});

describe.skipIf(natsPath === undefined)("two processes with one name", () => {
  test("the later one ends, and is a collector of its own when it is started again", async () => {
    const nats = await startNats();
    const first = await open({ busUrl: nats.url });
    const twin = join(folder, "twin");
    await cp(first.dataDir, twin, { recursive: true });
    const port = await freePort();
    const start = (): ChildProcess =>
      spawn(
        process.execPath,
        [
          join(import.meta.dirname, "../../src/main.ts"),
          ...["up", "--data", twin, "--http", `127.0.0.1:${port}`, "--xtrack", "127.0.0.1:0", "--quiet"],
        ],
        {
          stdio: "ignore",
          env: { ...process.env, TRIBUTARY_STORE_URL: shared.url, TRIBUTARY_BUS_URL: nats.url },
        },
      );
    const [code] = (await once(start(), "exit")) as [number];
    expect(code).toBe(75);
    expect(await nameIn(twin)).not.toBe(first.app.collector.id);
    const again = start();
    await eventually(
      async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true,
      "it did not start",
    );
    again.kill("SIGTERM");
    await once(again, "exit");
    await nats.kill();
  });
});
