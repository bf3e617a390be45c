// What live jobs send costs the store no question, however much was let go before it and after a restart. A late copy is
// asked for, and known.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { defaultIntakeLimits } from "#intake/intake-state.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted, type TestCollector } from "../support/collector.ts";
import { eventually } from "../support/several.ts";

const secondUs = 1_000_000;
const intakeLimits = { ...defaultIntakeLimits, generationRows: 16, filtersMax: 1 };

let job: TestCollector;
beforeAll(async () => {
  job = await createTestCollector(undefined, { intakeLimits });
});
afterAll(() => job?.remove());

/** Two steps of a training whose session is still open; all of them are in the store before the next come. */
async function send(second: number, batchId = `batch-${second}`): Promise<{ accepted: number; duplicates: number }> {
  const spans = ["a", "b"].map((name) => ({
    id: `${name}-${second}`,
    parent: "session",
    name: "step",
    at: second * secondUs,
  }));
  const receipt = await submitted(job.collector, cirronInput(Buffer.from(toBatchText(batchId, spans))));
  await job.collector.drained();
  const { applied } = job.collector.sequencer.position;
  job.collector.applier.shrink(applied, applied);
  return receipt;
}

/** The questions about identity that were asked meanwhile. */
async function asked(work: () => Promise<unknown>): Promise<string[]> {
  const spy = vi.spyOn(job.collector.store, "stream");
  await work();
  const sql = spy.mock.calls.map(([query]) => query.sql);
  spy.mockRestore();
  return sql.filter((text) => /cirron_(ids|components|batches)/.test(text));
}

async function sendMany(from: number, to: number): Promise<void> {
  for (let second = from; second < to; second++) await send(second);
}

test("batches of a live job ask nothing, and a late copy of a row is asked for and known", async () => {
  expect(await asked(() => sendMany(0, 44))).toEqual([]);
  let copy: { accepted: number; duplicates: number } | undefined;
  const questions = await asked(async () => {
    copy = await send(3, "sent again");
  });
  expect(copy).toMatchObject({ accepted: 0, duplicates: 4 });
  expect(questions).not.toEqual([]);
});

test("after a restart too, once what is stored was looked through", async () => {
  await job.reopen();
  let second = 100;
  // Until then everything is asked for; afterwards only the session, which was named before the restart.
  await eventually(async () => (await asked(() => send(second++))).length === 0);
  expect(await asked(() => sendMany(second, second + 44))).toEqual([]);
  const copy = await send(3, "sent once more");
  expect(copy).toMatchObject({ accepted: 0, duplicates: 4 });
});
