// What it costs a collector to take in what others have stored of sessions that it knows: as many statements for many
// groups as for one.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PeerBatch, takePeerBatches } from "#server/collector/peer-batches.ts";
import { count, readRow } from "#store/reader/native-rows.ts";
import { readSharedStore } from "#store/shared-reads.ts";
import type { TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";
import { countQuestions, countStore } from "../support/counted-store.ts";
import { eventually, natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;

const post = async (app: TestApp, run: string, body: string): Promise<void> => {
  expect((await app.post(`/v1/runs/${run}/traces`, body)).status).toBe(202);
};
const spansOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}`)).body as { counts?: { spans?: number } }).counts?.spans;
const copiesLeft = async () => {
  const sql = "SELECT count() - uniqExact(span_id) AS n FROM tributary.spans";
  return Number((await askStore<{ n: string }>(pair.a.app.collector.store, { sql }))[0]?.n);
};
const runsOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}${at}`);

/** Sessions of which one collector has the root and both have the step: under a key each, because neither heard. */
async function makeCopies(runs: readonly string[]): Promise<void> {
  for (const run of runs) {
    await post(pair.a, run, toBatchText(`${run}r`, [{ id: `${run}r`, parent: null, name: "cirron.session", at: 0 }]));
    const step = toBatchText(`${run}s`, [{ id: `${run}s`, parent: `${run}r`, name: "step", at: 1 }]);
    for (const app of [pair.a, pair.b]) await post(app, run, step);
  }
  for (const { app } of [pair.a, pair.b]) await app.collector.drained();
}

/** Lets b take in these batches of a, and tells what it asked the store meanwhile. */
async function takeIn(batches: readonly PeerBatch[]): Promise<{ questions: number; removals: number }> {
  const { collector, questions, removals } = countQuestions(pair.b.app.collector);
  await takePeerBatches(collector, batches);
  return { questions: questions.length, removals: removals.length };
}

describe.skipIf(natsPath === undefined)("what others have stored of known sessions", () => {
  beforeAll(async () => {
    pair = await openPair();
    await pair.nats.kill();
  });
  afterAll(() => pair?.remove());

  test("is taken in with as many questions for many groups as for two", async () => {
    const [few, many] = [runsOf("few", 2), runsOf("many", 16)];
    const told = (runs: readonly string[]) =>
      runs.flatMap((run) =>
        [`${run}r`, `${run}s`].map((batch) => ({ batchId: hex(batch), groupKey: `default/c/${hex(`${run}r`)}` })),
      );
    await makeCopies(few);
    const first = await takeIn(told(few));
    await makeCopies(many);
    const second = await takeIn(told(many));
    expect(first.questions).toBeGreaterThan(6);
    expect(second.questions).toBeLessThanOrEqual(first.questions);
    // Spans, marks and their points.
    expect(second.removals).toBeLessThanOrEqual(4);
    expect(await copiesLeft()).toBe(0);
    for (const run of [...few, ...many]) expect([run, await spansOf(pair.b, run)]).toEqual([run, 2]);
  });

  test("is looked for once by questions about the same groups that are asked together", async () => {
    await makeCopies(runsOf("together", 1));
    const { store, questions } = countStore(pair.a.app.collector.store);
    const shared = readSharedStore(store);
    const writers = "SELECT groupUniqArray(toString(group_key)) AS keys FROM tributary.writers";
    const [known] = await askStore<{ keys: string[] }>(store, { sql: writers });
    const sql = "SELECT count() AS n FROM tributary.spans WHERE group_key IN {groups:Array(String)}";
    const spans = () => readRow(shared, { n: count }, { sql, params: { groups: known?.keys ?? [] } });
    const alone = await spans();
    // Who writes there, and which rows are copies.
    const before = questions.length - 1;
    expect(before).toBeGreaterThanOrEqual(2);
    expect(await Promise.all([spans(), spans(), spans()])).toEqual([alone, alone, alone]);
    expect(questions.splice(0)).toHaveLength(before + 1 + before + 3);
    await spans();
    expect(questions).toHaveLength(before + 1);
  });

  test("is found when the bus is back, however much it is, and is then there once", async () => {
    const runs = runsOf("away", 16);
    await makeCopies(runs);
    await pair.nats.start();
    await eventually(async () => (await copiesLeft()) === 0, "copies are there");
    for (const app of [pair.a, pair.b])
      for (const run of runs) await eventually(async () => (await spansOf(app, run)) === 2, `${run} is not whole`);
  });
});
