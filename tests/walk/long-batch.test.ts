// A Cirron batch of so many rows or bytes that it is prepared and applied in turns: its rows are known, tied and refused exactly as
// those of small batches are, also when memory has let go of them.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Input } from "#intake/input.ts";
import type { Collector } from "#server/collector/collector.ts";
import { askStore } from "../support/ask-store.ts";
import { type BatchSpan, toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, submitted, type TestCollector } from "../support/collector.ts";

const rowCount = 10_000;
let walk: TestCollector;
beforeAll(async () => {
  walk = await createTestCollector();
});
afterAll(() => walk.remove());

/** Children of one root; each span has a mark. */
function spans(from: number, to: number): BatchSpan[] {
  const child = (at: number): BatchSpan => ({ id: `s${at}`, parent: at === 0 ? null : "s0", name: "step", at });
  return Array.from({ length: to - from }, (_, at) => child(from + at));
}

const inputOf = (id: string, rows: readonly BatchSpan[]): Input => cirronInput(Buffer.from(toBatchText(id, rows)));

async function stored(collector: Collector) {
  await collector.drained();
  const [counts] = await askStore<Record<string, number>>(collector.store, {
    sql: `SELECT toUInt32((SELECT count() FROM tributary.spans)) AS spans,
      toUInt32((SELECT uniqExact(span_id) FROM tributary.spans)) AS ids,
      toUInt32((SELECT count() FROM tributary.metrics)) AS points,
      toUInt32((SELECT uniqExact(run_id) FROM tributary.groups FINAL)) AS runs`,
  });
  return counts;
}

/** How many turns others had while an input was applied in turns; null when it was applied at once. */
async function countTurns({ applier }: Collector, submit: () => Promise<unknown>): Promise<number | null> {
  let turns = 0;
  let isInTurns = false;
  let isApplied = false;
  const count = () => {
    turns++;
    if (!isApplied) setImmediate(count);
  };
  const inTurns = applier.applyInTurns;
  applier.applyInTurns = (...given) => {
    isInTurns = true;
    setImmediate(count);
    return inTurns.apply(applier, given).finally(() => {
      isApplied = true;
    });
  };
  await submit();
  applier.applyInTurns = inTurns;
  return isInTurns ? turns : null;
}

test("its rows are stored once, and others have their turns while it is applied", async () => {
  const { collector } = walk;
  const turns = await countTurns(collector, async () => {
    const receipt = await submitted(collector, inputOf("large", spans(0, rowCount)));
    expect(receipt).toMatchObject({ accepted: 2 * rowCount, duplicates: 0 });
  });
  expect(turns).toBeGreaterThan(1);
  expect(await stored(collector)).toEqual({ spans: rowCount, ids: rowCount, points: rowCount, runs: 1 });
});

test("the same batch is known after a restart, by its name and content alone", async () => {
  const collector = await walk.reopen();
  const again = await submitted(collector, inputOf("large", spans(0, rowCount)));
  expect(again).toMatchObject({ accepted: 0, duplicates: 2 * rowCount });
  expect(collector.applier.state.cirron.of("default").isWhole).toBe(false);
});

test("of another batch only the rows that are new are taken, and tied to what is stored", async () => {
  const collector = await walk.reopen();
  const half = rowCount / 2;
  const mixed = await submitted(collector, inputOf("mixed", spans(half, rowCount + half)));
  expect(mixed).toMatchObject({ accepted: rowCount, duplicates: rowCount });
  const all = rowCount + half;
  expect(await stored(collector)).toEqual({ spans: all, ids: all, points: all, runs: 1 });
});

test("with those that came behind it, every row is taken once, whether it was put off for them or not", async () => {
  const collector = await walk.reopen();
  const from = 2 * rowCount;
  const receipts = await Promise.all([
    submitted(collector, inputOf("third", spans(from, from + rowCount))),
    submitted(collector, inputOf("small", spans(from, from + 3))),
    submitted(collector, inputOf("other", spans(from + rowCount, from + rowCount + 2))),
  ]);
  const sum = (name: "accepted" | "duplicates") => receipts.reduce((total, receipt) => total + receipt[name], 0);
  expect([sum("accepted"), sum("duplicates")]).toEqual([2 * rowCount + 4, 6]);
  const { spans: rows, ids, runs } = (await stored(collector)) ?? {};
  expect([rows, runs]).toEqual([ids, 1]);
});

test("one with few rows and many bytes is known by its content too, and is applied in turns", async () => {
  const collector = await walk.reopen();
  const text = toBatchText("wide", spans(90_000, 90_002)).replace("{", `{"padding":"${"x".repeat(3 << 20)}",`);
  const submit = () => submitted(collector, cirronInput(Buffer.from(text)));
  const turns = await countTurns(collector, async () => expect(await submit()).toMatchObject({ accepted: 4 }));
  expect(turns).not.toBeNull();
  expect(await submit()).toMatchObject({ accepted: 0, duplicates: 4 });
});
