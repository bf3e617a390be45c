import { afterEach, beforeEach, expect, it } from "vitest";
import { askStore } from "../../tests/support/ask-store.ts";
import { blockOf } from "../../tests/support/fact-rows.ts";
import { openMigrated, type StoreUnderTest } from "../../tests/support/store-under-test.ts";
import { copyMetricsByKey, handOnMark, readCopiedTo } from "./metrics-by-key.ts";
import { readMetricCells } from "./reader/cells.ts";
import { float, readRows, text } from "./reader/native-rows.ts";
import type { Store } from "./store.ts";

let under: StoreUnderTest;
let store: Store;
let tokens: number;

beforeEach(async () => {
  under = await openMigrated();
  ({ store } = under);
  tokens = 0;
  // Nothing is merged unless a test says so.
  await store.ddl(`SYSTEM STOP MERGES ${store.database}.metric_summary`);
});
afterEach(() => under.close());

/** One point of each group, a block for all of them. */
async function insert(step: number, groups: readonly string[], value = step): Promise<void> {
  const rows = groups.map((group) => {
    const metric = { group_key: `w/x/${group}`, key: "loss", worker: "0", source: "xtrack" };
    return { ...metric, step: BigInt(step), ts_ns: BigInt(step), value };
  });
  await store.insert("metrics", blockOf("metrics", rows), { token: `t${++tokens}` });
}

async function lastOf(groups: readonly string[] | null = null): Promise<Record<string, number | null>> {
  const keys = groups?.map((group) => `w/x/${group}`);
  const scope = keys === undefined ? { workspace: "w" } : { workspace: "w", groupKeys: keys };
  const cells = await readMetricCells(store, scope, "loss", "last");
  return Object.fromEntries(cells.map(({ groupKey, value }) => [groupKey.slice(4), value]).sort());
}

async function copied(): Promise<Record<string, number>> {
  const sql = `SELECT toString(group_key) AS groupKey, assumeNotNull(argMaxMerge(last).1) AS last
    FROM ${store.database}.metric_by_key WHERE key = 'loss' GROUP BY group_key ORDER BY group_key`;
  const rows = await readRows(store, { groupKey: text, last: float }, { sql });
  return Object.fromEntries(rows.map(({ groupKey, last }) => [groupKey.slice(4), last]));
}

it("tells of all series, whether they have been copied, came since, or both", async () => {
  await insert(1, ["a", "b"]);
  expect(await lastOf()).toEqual({ a: 1, b: 1 });
  expect(await copied()).toEqual({});
  await copyMetricsByKey(store);
  expect(await copied()).toEqual({ a: 1, b: 1 });
  await insert(2, ["b", "c"]);
  expect(await lastOf()).toEqual({ a: 1, b: 2, c: 2 });
  expect(await lastOf(["b"])).toEqual({ b: 2 });
  expect(await copied()).toEqual({ a: 1, b: 1 });
  // What was copied and what was not lie in one part now.
  await store.ddl(`SYSTEM START MERGES ${store.database}.metric_summary`);
  await store.ddl(`OPTIMIZE TABLE ${store.database}.metric_summary FINAL`);
  expect(await lastOf()).toEqual({ a: 1, b: 2, c: 2 });
  await copyMetricsByKey(store);
  expect(await copied()).toEqual({ a: 1, b: 2, c: 2 });
  expect(await lastOf()).toEqual({ a: 1, b: 2, c: 2 });
});

it("copies much in several statements, and what is there already not again", async () => {
  const groups = Array.from({ length: 100 }, (_, at) => `g${at}`);
  await insert(1, groups);
  await copyMetricsByKey(store, 9);
  expect(Object.keys(await copied()).length).toBe(100);
  const parts = async () =>
    askStore(store, { sql: `SELECT count() AS parts FROM system.parts WHERE table = 'metric_by_key'` });
  await store.ddl(`SYSTEM STOP MERGES ${store.database}.metric_by_key`);
  const before = await parts();
  await copyMetricsByKey(store);
  expect(await parts()).toEqual(before);
});

it("copies the same rows again after they have been deleted", async () => {
  await store.ddl(`SYSTEM START MERGES ${store.database}.metric_summary`);
  await insert(1, ["a"]);
  await copyMetricsByKey(store);
  for (const table of ["metric_summary", "metric_by_key"])
    await store.ddl(`DELETE FROM ${store.database}.${table} WHERE group_key = 'w/x/a'`);
  expect(await lastOf()).toEqual({});
  await insert(1, ["a"]);
  await copyMetricsByKey(store);
  expect(await copied()).toEqual({ a: 1 });
});

/** As another process has left it. */
async function leaveMark(block: number): Promise<void> {
  const { database } = store;
  await store.ddl(`DELETE FROM ${database}.metric_by_key WHERE key = ''`);
  await store.ddl(`INSERT INTO ${database}.metric_by_key (group_key, key, worker, phase, max_ns)
    SELECT '', '', 'another', '', ${block}`);
}

it("goes on at a start where the process before was, unless the numbers of blocks have begun again", async () => {
  await insert(1, ["a"]);
  await insert(2, ["b"]);
  await leaveMark(1);
  expect(await readCopiedTo(store)).toBe(0);
  await handOnMark(store);
  expect(await readCopiedTo(store)).toBe(1);
  await copyMetricsByKey(store);
  expect(await copied()).toEqual({ b: 2 });
  await leaveMark(99);
  await handOnMark(store);
  expect(await readCopiedTo(store)).toBe(0);
  expect(await lastOf()).toEqual({ a: 1, b: 2 });
  // It would count once there are as many blocks as it says.
  await handOnMark(store);
  expect(await askStore(store, { sql: `SELECT 1 FROM ${store.database}.metric_by_key WHERE key = ''` })).toEqual([]);
});

it("takes nothing for copied when the engine has been started again", async () => {
  await insert(1, ["a"]);
  await copyMetricsByKey(store);
  expect(await readCopiedTo(store)).toBe(1);
  const again: Store = Object.create(store, { restarts: { value: store.restarts + 1 } });
  expect(await readCopiedTo(again)).toBe(0);
  await copyMetricsByKey(again);
  expect(await readCopiedTo(again)).toBe(1);
  expect(await lastOf()).toEqual({ a: 1 });
});
