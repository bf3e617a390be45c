// Components whose plan was lost: what the store holds of them is known all the same.

import { afterAll, expect, test } from "vitest";
import { askStore } from "../support/ask-store.ts";
import { type BatchProcess, type BatchSpan, hex, toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted, type TestCollector } from "../support/collector.ts";

let folder: TestCollector;
afterAll(() => folder?.remove());

const encoder = new TextEncoder();
const batch = (id: string, spans: readonly BatchSpan[], from?: BatchProcess) =>
  cirronInput(encoder.encode(toBatchText(id, spans, from)));
/** How near the rows of another process are in time says nothing. */
const elsewhere: BatchProcess = { pid: 71, thread: 8 };
const runs = async () => {
  const { store } = folder.collector;
  return askStore<{ run_id: string; spans: string }>(store, {
    sql: `SELECT run_id, count() AS spans FROM ${store.database}.spans AS s
      JOIN (SELECT * FROM ${store.database}.groups FINAL) AS g USING group_key GROUP BY run_id ORDER BY run_id`,
  });
};
test("a folder without components knows its rows, and makes the components that records name", async () => {
  folder = await createTestCollector();
  const step = (n: number, parent: string) => ({ id: `step${n}`, parent, name: "step", at: n });
  await submitted(folder.collector, batch("old-1", [step(1, "epoch1")]));
  await submitted(folder.collector, batch("old-2", [{ id: "epoch1", parent: "root", name: "epoch", at: 0 }]));
  await submitted(folder.collector, batch("other", [step(9, "epoch9")], elsewhere));
  await folder.collector.drained();
  const { store } = folder.collector;
  await store.ddl(`TRUNCATE TABLE ${store.database}.cirron_components`);
  await folder.reopen();

  const again = await submitted(folder.collector, batch("old-1", [step(1, "epoch1")]));
  expect(again).toMatchObject({ accepted: 0, duplicates: 2 });
  const late = await submitted(
    folder.collector,
    batch("late", [step(2, "epoch1"), { id: "root", parent: null, name: "cirron.session", at: 0 }]),
  );
  expect(late).toMatchObject({ accepted: 4, duplicates: 0 });
  await folder.collector.drained();
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
