// A start that does not know how far the store has got: it finds out what the store holds at once, not record by record.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeInput, type Input } from "#intake/input.ts";
import { createJournal } from "#journal/journal.ts";
import type { Store } from "#store/store.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { cirronInput, createTestCollector, openTestCollector, submitted } from "../support/collector.ts";
import { countStore } from "../support/counted-store.ts";

const stored = 10;
const records = 400;

const nowS = Math.floor(Date.now() / 1000);
const hoursAgoS = nowS - 10 * 3600;
const smallTables = ["groups", "aliases", "cirron_components", "cirron_batches"];

/** Of a job that runs now, or that ran hours ago: an outline of the store does not have the ids of rows that began then. */
function toBatch(at: number, beganS: number): Input {
  const text = toBatchText(`b${at}`, [{ id: `s${at}`, parent: null, name: "step", at }]);
  return cirronInput(Buffer.from(text.replace(/1794710000(?=\d{9})/g, String(beganS))));
}

function toFrames(at: number): Input {
  const m = { seq: at + 1, ts: at + 1, wid: "w" };
  const body = encodeFrame("metric", m, { run_id: `run ${at % 20}`, key: "loss", value: at, step: at });
  return { ...cirronInput(body), kind: "xtrack_frames", offset: 0, currentRun: null, file: "" } as Input;
}

async function startWithout(lost: readonly string[], beganS = nowS): Promise<{ asked: number; counts: unknown }> {
  const job = await createTestCollector();
  for (let at = 0; at < stored; at++) {
    await submitted(job.collector, toBatch(at, beganS));
    await submitted(job.collector, toFrames(at));
  }
  await job.collector.drained();
  for (const table of lost) await job.collector.store.ddl(`TRUNCATE TABLE tributary.${table}`);
  await job.collector.close(5000);
  const journal = await createJournal({ dir: join(job.dataDir, "journal") });
  for (let at = stored; at < records; at++)
    for (const input of [toBatch(at, beganS), toFrames(at)]) await journal.append(encodeInput(input));
  await journal.close();
  await writeFile(join(job.dataDir, "outbox", "position"), "no position");
  let questions: readonly string[] = [];
  const wrapStore = (inner: Store): Store => {
    const counted = countStore(inner);
    questions = counted.questions;
    return counted.store;
  };
  job.collector = await openTestCollector(job.dataDir, () => undefined, { wrapStore });
  await job.collector.drained();
  const askedByStart = questions.length;
  const count = (table: string) => `(SELECT toUInt32(count()) FROM tributary.${table}) AS ${table}`;
  const [counts] = await askStore(job.collector.store, {
    sql: `SELECT ${["spans", "marks", "metrics"].map(count).join()}`,
  });
  await job.remove();
  return { asked: askedByStart, counts };
}

test("a start without its position stores everything once, and asks for less than there are records", async () => {
  const { asked, counts } = await startWithout([]);
  expect(counts).toEqual({ spans: records, marks: records, metrics: 2 * records });
  expect(asked).toBeLessThan(records);
});

test("so it does where the rows of the last plan were stored and what the small tables say of them was not", async () => {
  const { asked, counts } = await startWithout(smallTables);
  expect(counts).toEqual({ spans: records, marks: records, metrics: 2 * records });
  expect(asked).toBeLessThan(records);
});

test("about rows that began hours ago it asks for many records at once", async () => {
  const { asked, counts } = await startWithout([], hoursAgoS);
  expect(counts).toEqual({ spans: records, marks: records, metrics: 2 * records });
  expect(asked).toBeLessThan(records / 2);
});

test("so it does where the store has their rows and the small tables say nothing of them", async () => {
  const { asked, counts } = await startWithout(smallTables, hoursAgoS);
  expect(counts).toEqual({ spans: records, marks: records, metrics: 2 * records });
  expect(asked).toBeLessThan(records / 2);
});
