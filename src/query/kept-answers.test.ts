import { describe, expect, test } from "vitest";
import { count, readRow, readValue, text } from "#store/reader/native-rows.ts";
import { readGroupsOfRuns } from "#store/reader/run-names.ts";
import type { Store } from "#store/store.ts";
import { countStore } from "../../tests/support/counted-store.ts";
import { blockOf } from "../../tests/support/fact-rows.ts";
import { openMigrated, suiteStore } from "../../tests/support/store-under-test.ts";
import { Kept } from "./kept.ts";
import { keepAnswers } from "./kept-answers.ts";

const engine = suiteStore(openMigrated);

/** The store with what is kept of it, and the questions that still reached the engine. */
function open(bytesMax?: number): { readonly store: Store; readonly questions: string[] } {
  const { store, questions } = countStore(engine);
  return { store: keepAnswers(store, new Kept(bytesMax)), questions };
}

let tokens = 0;

function insertPoint(store: Store, group: string): Promise<void> {
  const point = { group_key: group, key: "loss", value: 1, jpos: BigInt(++tokens) };
  return store.insert("metrics", blockOf("metrics", [point]), { token: `p${tokens}` });
}

function insertGroup(store: Store, run: string): Promise<void> {
  const group = { group_key: `w/x/${run}`, workspace: "w", protocol: "xtrack", run_id: run, version: 1n };
  return store.insert("groups", blockOf("groups", [group]), { token: `g${++tokens}` });
}

const countOf = (store: Store, table: string, group: string) =>
  readValue(store, count, {
    sql: `SELECT count() FROM ${store.database}.${table} WHERE group_key = {group:String}`,
    params: { group },
  });

describe("an answer of the engine", () => {
  test("is kept until a table that it comes from is written to", async () => {
    const { store, questions } = open();
    const groups = async () => (await readGroupsOfRuns(store, "w", ["a", "b"])).map(({ run }) => run);
    await insertGroup(store, "a");
    expect(await groups()).toEqual(["a"]);
    expect(await groups()).toEqual(["a"]);
    await insertPoint(store, "w/x/a");
    expect(await groups()).toEqual(["a"]);
    expect(questions).toHaveLength(1);
    await insertGroup(store, "b");
    expect(await groups()).toEqual(["a", "b"]);
    expect(questions).toHaveLength(2);
  });

  test("is not kept over a write to a table that the engine sums up", async () => {
    const { store } = open();
    for (const table of ["metrics", "metric_summary"]) expect(await countOf(store, table, "s")).toBe(0);
    await insertPoint(store, "s");
    for (const table of ["metrics", "metric_summary"]) expect(await countOf(store, table, "s")).toBe(1);
  });

  test("is not kept over a statement that may change anything", async () => {
    const { store } = open();
    await insertPoint(store, "gone");
    expect(await countOf(store, "metrics", "gone")).toBe(1);
    await store.ddl(`DELETE FROM ${store.database}.metrics WHERE group_key = 'gone'`);
    expect(await countOf(store, "metrics", "gone")).toBe(0);
  });

  test("is of its own parameters", async () => {
    const { store } = open();
    await insertPoint(store, "mine");
    expect(await countOf(store, "metrics", "mine")).toBe(1);
    expect(await countOf(store, "metrics", "other")).toBe(0);
    const sql = `SELECT count() FROM ${store.database}.metrics WHERE group_key = 'mine' AND jpos < {end:Int64}`;
    expect(await readValue(store, count, { sql, params: { end: 0n } })).toBe(0);
    expect(await readValue(store, count, { sql, params: { end: 2n ** 60n } })).toBe(1);
  });

  test("that was written to while it came is not kept", async () => {
    const { store, questions } = open();
    const query = { sql: `SELECT group_key FROM ${store.database}.metrics WHERE group_key = 'meanwhile'` };
    await insertPoint(store, "meanwhile");
    for await (const _ of store.stream(query, { format: "Native" })) await insertPoint(store, "meanwhile");
    const asked = questions.length;
    await readRow(store, { group_key: text }, query);
    expect(questions).toHaveLength(asked + 1);
  });

  test("can be changed by who got it, and is what it was for the next", async () => {
    const { store, questions } = open();
    const query = { sql: `SELECT 'as it was' AS word FROM ${store.database}.metrics LIMIT 1` };
    for (let i = 0; i < 3; i++)
      for await (const chunk of store.stream(query, { format: "Native" })) {
        expect(Buffer.from(chunk).includes("as it was")).toBe(true);
        chunk.fill(0);
      }
    expect(questions).toHaveLength(1);
  });

  test("about the engine itself, about time, or of many bytes is asked for each time", async () => {
    const { store, questions } = open();
    const { database } = store;
    const fresh = [
      `SELECT count() AS n FROM system.parts WHERE database = '${database}'`,
      `SELECT toUInt64(toUnixTimestamp(now())) AS n, 1 IN (SELECT jpos FROM ${database}.metrics) AS m`,
      `SELECT number AS n FROM system.numbers LIMIT 20000`,
      `SELECT repeat('x', 70000) AS n, 1 IN (SELECT jpos FROM ${database}.metrics) AS m`,
    ];
    for (const sql of [...fresh, ...fresh]) for await (const _ of store.stream({ sql }, { format: "Native" }));
    expect(questions).toHaveLength(2 * fresh.length);
  });
});
