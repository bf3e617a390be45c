import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
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
