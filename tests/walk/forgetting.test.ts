// What memory lets go shows nowhere: the same inputs of all protocols with nothing let go, with everything let go after
// each of them, and now and then, with restarts, end in the same answers and the same receipts.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Input } from "#intake/input.ts";
import { defaultIntakeLimits, type ShrinkTo } from "#intake/intake-state.ts";
import type { Collector } from "#server/collector/collector.ts";
import { askStore } from "../support/ask-store.ts";
import { createTestCollector, submitted, type TestCollector } from "../support/collector.ts";
import { createRandom, toInputs } from "../support/random-inputs.ts";
import { sized } from "../support/sized.ts";

const seeds = sized(1, 40);
/** So low that a quarter of them, which a quiet server keeps, is less than what comes. */
const low = { ...defaultIntakeLimits, generationRows: 64, componentsMax: 8, wholeEventsMax: 3 };
const forgetful = { ...defaultIntakeLimits, generationRows: 4, filtersMax: 0, componentsMax: 2, wholeEventsMax: 0 };

let whole: TestCollector;
let empty: TestCollector;
let mixed: TestCollector;

beforeAll(async () => {
  [whole, empty, mixed] = await Promise.all([
    createTestCollector(),
    createTestCollector(undefined, { intakeLimits: forgetful }),
    createTestCollector(undefined, { intakeLimits: low }),
  ]);
});
afterAll(() => Promise.all([whole, empty, mixed].map((one) => one?.remove())));

async function letGo(collector: Collector, to: ShrinkTo = "nothing"): Promise<void> {
  await collector.drained();
  const { applied } = collector.sequencer.position;
  collector.applier.shrink(applied, applied, to);
}

async function feed(
  test: TestCollector,
  inputs: readonly Input[],
  after: (at: number) => Promise<void>,
): Promise<unknown[]> {
  const receipts: unknown[] = [];
  for (const [at, input] of inputs.entries()) {
    const { accepted, duplicates, faults } = await submitted(test.collector, input);
    receipts.push({ kind: input.kind, at, accepted, duplicates, faults: faults.map(({ code }) => code) });
    await after(at);
  }
  await test.collector.drained();
  return receipts;
}

const questions = {
  spans: `SELECT span_id, g.run_id, g.session_id, g.root_kind, g.rank, g.forked, g.imported FROM spans AS s
    JOIN (SELECT * FROM groups FINAL) AS g USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
  marks: `SELECT mark_id, g.run_id FROM marks AS s JOIN (SELECT * FROM groups FINAL) AS g USING group_key
    WHERE g.workspace = {w:String} ORDER BY ALL`,
  points: `SELECT g.run_id, key, step, worker, value FROM metrics AS s JOIN (SELECT * FROM groups FINAL) AS g
    USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
  events: `SELECT g.run_id, type, worker, seq, event_id FROM events AS s JOIN (SELECT * FROM groups FINAL) AS g
    USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
  logs: `SELECT g.run_id, stream, offset, msg FROM logs AS s JOIN (SELECT * FROM groups FINAL) AS g
    USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
  params: `SELECT g.run_id, name, value FROM params AS s JOIN (SELECT * FROM groups FINAL) AS g
    USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
  faults: "SELECT code, fault_id FROM faults FINAL WHERE workspace = {w:String} ORDER BY ALL",
  batches: "SELECT batch_id, source, content_hash FROM cirron_batches FINAL WHERE workspace = {w:String} ORDER BY ALL",
  names: `SELECT DISTINCT alias, g.run_id FROM (SELECT * FROM aliases FINAL) AS a
    JOIN (SELECT * FROM groups FINAL) AS g USING group_key WHERE g.workspace = {w:String} ORDER BY ALL`,
};

async function answers({ collector }: TestCollector, w: string): Promise<Record<string, unknown>> {
  const { store } = collector;
  const told: Record<string, unknown> = {};
  for (const [name, sql] of Object.entries(questions)) {
    const qualified = sql.replaceAll(
      /\b(FROM|JOIN) (\(SELECT \* FROM )?(\w+)/g,
      (_, word: string, inner: string | undefined, table: string) =>
        `${word} ${inner ?? ""}${table === "SELECT" ? table : `${store.database}.${table}`}`,
    );
    told[name] = await askStore(store, { sql: qualified, params: { w } });
  }
  return told;
}

test.each(Array.from({ length: seeds }, (_, at) => at + 1))(
  "the same inputs end in the same answers, whatever was let go in between (%i)",
  async (seed) => {
    const w = `w${seed}`;
    const inputs = toInputs(w, seed * 7919);
    const random = createRandom(seed);
    const expected = await feed(whole, inputs, async () => undefined);
    const letting = await feed(empty, inputs, () => letGo(empty.collector));
    const sometimes = await feed(mixed, inputs, async () => {
      if (random() < 0.1) await letGo(mixed.collector, random() < 0.5 ? "rest" : "nothing");
      else if (random() < 0.02) await mixed.reopen();
    });
    expect(letting).toEqual(expected);
    expect(sometimes).toEqual(expected);
    const told = await answers(whole, w);
    expect(await answers(empty, w)).toEqual(told);
    expect(await answers(mixed, w)).toEqual(told);
    expect(Object.values(told).every((rows) => (rows as unknown[]).length > 0)).toBe(true);
  },
  300_000,
);
