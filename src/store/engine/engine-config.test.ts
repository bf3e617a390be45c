import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, it } from "vitest";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import { askStore } from "../../../tests/support/ask-store.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { openEmbedded } from "../../../tests/support/store-under-test.ts";
import { prepareFolders } from "./engine-config.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = makeFolder();
});

it("writes its settings once, so that a server starts on a full disk, and again where they differ", () => {
  const { config } = prepareFolders(dataDir);
  const paths = ["users.xml", "config.xml"].map((name) => join(config, name));
  const texts = paths.map((path) => readFileSync(path, "utf8"));
  const long = new Date("2001-01-01");
  for (const path of paths) utimesSync(path, long, long);
  prepareFolders(dataDir);
  expect(paths.map((path) => statSync(path).mtime)).toEqual([long, long]);
  for (const path of paths) writeFileSync(path, "<of another release/>");
  prepareFolders(dataDir);
  expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(texts);
});

it("compiles nothing for a question that is asked a few times", async () => {
  const { store, close } = await openEmbedded();
  try {
    const sql = `SELECT number % 7 AS part, sum(number * 3 + 1) AS total, max(number) AS most
      FROM numbers(10000) WHERE number * 2 + 1 > 10 GROUP BY part ORDER BY part, total`;
    for (let asked = 0; asked < 10; asked++) expect(await askStore(store, { sql })).toHaveLength(7);
    const counted = "SELECT event, value FROM system.events WHERE event IN ('SelectQuery', 'CompileFunction')";
    const events = await askStore<{ event: string }>(store, { sql: counted });
    expect(events.map(({ event }) => event)).toEqual(["SelectQuery"]);
  } finally {
    await close();
  }
});

it("lets ten parts of a size gather before they are merged", async () => {
  const { store, close } = await openEmbedded();
  try {
    const sql = "SELECT value FROM system.merge_tree_settings WHERE name = 'merge_selector_base'";
    expect(await askStore(store, { sql })).toEqual([{ value: "10" }]);
  } finally {
    await close();
  }
});

it("reads a large table with several threads, though it has little memory", async () => {
  const { store, close } = await openEmbedded();
  try {
    await store.ddl("CREATE TABLE many (n UInt64) ENGINE = MergeTree ORDER BY n");
    await store.ddl("INSERT INTO many SELECT number FROM numbers(2000000)");
    const sql = "EXPLAIN PIPELINE SELECT sum(n) FROM many SETTINGS max_threads = 2";
    const steps = await askStore<{ explain: string }>(store, { sql });
    expect(steps.map(({ explain }) => explain.trim())).toContainEqual(expect.stringMatching(/^MergeTreeSelect.* × 2 /));
  } finally {
    await close();
  }
});

it.runIf(process.platform === "linux")("is not asked without end for streams, of which there are none", async () => {
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const store = await createStore({ kind: "embedded", dataDir, starting: Promise.resolve(engine) });
  try {
    const tables = 30;
    for (let i = 0; i < tables; i++) await store.ddl(`CREATE TABLE quiet_${i} (n UInt8) ENGINE = MergeTree ORDER BY n`);
    // Each table is looked at once when it is made.
    const sql = "SELECT count() AS first FROM system.background_schedule_pool WHERE pool = 'streaming' AND NOT delayed";
    await expect.poll(() => askStore(store, { sql }), { timeout: 30_000 }).toEqual([{ first: "0" }]);
    const before = countWakings(engine.pid as number);
    await sleep(1500);
    expect(countWakings(engine.pid as number) - before).toBeLessThan(tables / 2);
  } finally {
    await store.close();
  }
});

/** How often the threads woke that look for streams. */
function countWakings(pid: number): number {
  const wakings = readdirSync(`/proc/${pid}/task`).map((thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8");
    if (!status.startsWith("Name:\tBgStrmSchPool\n")) return 0;
    return Number(/^voluntary_ctxt_switches:\t(\d+)$/m.exec(status)?.[1]);
  });
  return wakings.reduce((sum, each) => sum + each, 0);
}
