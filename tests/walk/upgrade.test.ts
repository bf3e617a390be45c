// A folder of a release that kept no ids and components is brought up to date while the server works, and knows what it
// holds all the while.

import { afterAll, expect, test } from "vitest";
import { askStore } from "../support/ask-store.ts";
import { type BatchProcess, type BatchSpan, hex, toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted, type TestCollector } from "../support/collector.ts";

let folder: TestCollector;
afterAll(() => folder?.remove());

const encoder = new TextEncoder();
const batch = (id: string, spans: readonly BatchSpan[], from?: BatchProcess) =>
  cirronInput(encoder.encode(toBatchText(id, spans, from)));
/** How near the rows of another process are in time says nothing, before components are there and after. */
const elsewhere: BatchProcess = { pid: 71, thread: 8 };
const runs = async () => {
  const { store } = folder.collector;
  return askStore<{ run_id: string; spans: string }>(store, {
    sql: `SELECT run_id, count() AS spans FROM ${store.database}.spans AS s
      JOIN (SELECT * FROM ${store.database}.groups FINAL) AS g USING group_key GROUP BY run_id ORDER BY run_id`,
  });
};
const countOf = async (table: string) => {
  const { store } = folder.collector;
  const [row] = await askStore<{ n: string }>(store, { sql: `SELECT count() AS n FROM ${store.database}.${table}` });
  return Number(row?.n);
};

test("a folder of an older release knows its rows at once, and has its ids and components soon", async () => {
  folder = await createTestCollector();
  const step = (n: number, parent: string) => ({ id: `step${n}`, parent, name: "step", at: n });
  await submitted(folder.collector, batch("old-1", [step(1, "epoch1")]));
  await submitted(folder.collector, batch("old-2", [{ id: "epoch1", parent: "root", name: "epoch", at: 0 }]));
  await submitted(folder.collector, batch("other", [step(9, "epoch9")], elsewhere));
  await folder.collector.drained();
  const ids = await countOf("cirron_ids");
  const components = await countOf("cirron_components FINAL WHERE merged_into = ''");
  const { store } = folder.collector;
  for (const sql of ["TRUNCATE TABLE @.cirron_ids", "TRUNCATE TABLE @.cirron_components"])
    await store.ddl(sql.replace("@", store.database));
  await store.ddl(`ALTER TABLE ${store.database}.migrations DELETE WHERE id >= 9 SETTINGS mutations_sync = 2`);
  await folder.reopen();

  const again = await submitted(folder.collector, batch("old-1", [step(1, "epoch1")]));
  expect(again).toMatchObject({ accepted: 0, duplicates: 2 });
  const late = await submitted(
    folder.collector,
    batch("late", [step(2, "epoch1"), { id: "root", parent: null, name: "cirron.session", at: 0 }]),
  );
  expect(late).toMatchObject({ accepted: 4, duplicates: 0 });
  await folder.collector.drained();
  await expect.poll(() => countOf("migrations WHERE id = 10"), { timeout: 30_000 }).toBe(1);
  await expect
    .poll(() => countOf("cirron_components FINAL WHERE merged_into = ''"), { timeout: 30_000 })
    .toBe(components);
  expect(await countOf("cirron_ids FINAL")).toBeGreaterThanOrEqual(ids);
  const expected = [
    { run_id: hex("epoch9"), spans: "1" },
    { run_id: hex("root"), spans: "4" },
  ].sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
  expect(await runs()).toEqual(expected);
  await folder.reopen();
  expect(await submitted(folder.collector, batch("fork", [step(9, "epoch9")], elsewhere))).toMatchObject({
    accepted: 0,
    duplicates: 2,
  });
  expect(await runs()).toEqual(expected);
});
