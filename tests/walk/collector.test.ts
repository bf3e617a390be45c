import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import { encodeInput } from "#intake/input.ts";
import { createJournal } from "#journal/journal.ts";
import { StoreOutage } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import {
  cirronInput,
  createTestCollector,
  openTestCollector,
  submitted,
  type TestCollector,
} from "../support/collector.ts";
import { countStore } from "../support/counted-store.ts";

const root = join(import.meta.dirname, "../..");
const spool = join(root, "examples/data/h200/cirron-stats/.cirron/spool");
let walk: TestCollector;

beforeAll(async () => {
  walk = await createTestCollector();
});
afterAll(() => walk.remove());

async function count(table: string): Promise<number> {
  const rows = await askStore<{ n: string }>(walk.collector.store, {
    sql: `SELECT count() AS n FROM tributary.${table}`,
  });
  return Number(rows[0]?.n);
}

test("what a start reads from a store that goes away meanwhile is read when it is back", async () => {
  let asked = 0;
  const done = Promise.withResolvers<void>();
  await walk.collector.onceJoined(async () => {
    if (++asked < 3) throw new StoreOutage("engine_down", "socket hang up");
    done.resolve();
  });
  expect(asked).toBeLessThan(3);
  await done.promise;
  const wrong = new StoreOutage("refused", "no such table");
  await expect(walk.collector.onceJoined(() => Promise.reject(wrong))).rejects.toBe(wrong);
});

test("a change that is made after the clock was set back holds after the next start", async () => {
  const set = async (value: string, version: bigint) => {
    const row = { workspace: "default", name: "clock", value, author: "somebody", version };
    await walk.collector.change([{ table: "settings", row }], "default", "somebody");
    await walk.collector.drained();
  };
  await set("tomorrow", nowNs() + 86_400_000_000_000n);
  await walk.reopen();
  await set("today", nowNs());
  await set("today, a moment later", nowNs());
  const sql = "SELECT value FROM tributary.settings FINAL WHERE name = 'clock'";
  expect(await askStore(walk.collector.store, { sql })).toEqual([{ value: "today, a moment later" }]);
});

test("two processes stay two runs after a restart, though their roots have no parent", async () => {
  const two = await createTestCollector();
  try {
    for (const name of ["torch_stats", "torch_full"]) {
      const folder = join(root, "tests/fixtures/cirron", name, ".cirron/spool");
      for (const file of readdirSync(folder))
        await submitted(two.collector, cirronInput(readFileSync(join(folder, file))));
    }
    const sql = "SELECT group_key, run_id, session_id FROM tributary.groups FINAL ORDER BY group_key";
    await two.collector.drained();
    const before = await askStore<{ run_id: string }>(two.collector.store, { sql });
    expect(new Set(before.map((row) => row.run_id)).size).toBe(2);
    const again = await two.reopen();
    await again.drained();
    expect(await askStore(again.store, { sql })).toEqual(before);
  } finally {
    await two.remove();
  }
});

test("a GPU training goes from its spool to the store once, also when it comes again after a restart", async () => {
  const files = readdirSync(spool).map((name) => readFileSync(join(spool, name)));
  const receipts = await Promise.all(files.map((file) => submitted(walk.collector, cirronInput(file))));
  expect(receipts.reduce((sum, receipt) => sum + receipt.accepted, 0)).toBe(3043 + 1204 + 324);
  await walk.collector.drained();
  expect([await count("spans"), await count("marks"), await count("snapshots")]).toEqual([3043, 1204, 324]);
  const again = await walk.reopen();
  for (const file of files) {
    const receipt = await submitted(again, cirronInput(file));
    expect(receipt).toMatchObject({ accepted: 0, faults: [] });
  }
  await again.drained();
  expect([await count("spans"), await count("marks"), await count("snapshots")]).toEqual([3043, 1204, 324]);
  const groups = await askStore<{ run_id: string }>(again.store, { sql: "SELECT run_id FROM tributary.groups FINAL" });
  expect(groups).toEqual([{ run_id: "d367d862a8534da6e34d2f94bf863f8f" }]);
});

test("what a killed server left in its journal is applied without a question for each record", async () => {
  const records = 200;
  const left = await createTestCollector();
  const batch = (at: number) => {
    const text = toBatchText(`b${at}`, [{ id: `s${at}`, parent: "root", name: "step", at }]);
    return cirronInput(new TextEncoder().encode(text));
  };
  await submitted(left.collector, batch(0));
  await left.collector.drained();
  await left.collector.close(5000);
  const journal = await createJournal({ dir: join(left.dataDir, "journal") });
  for (let at = 1; at <= records; at++) await journal.append(encodeInput(batch(at)));
  await journal.close();
  let questions: readonly string[] = [];
  const wrapStore = (inner: Store): Store => {
    const counted = countStore(inner);
    questions = counted.questions;
    return counted.store;
  };
  left.collector = await openTestCollector(left.dataDir, () => undefined, { wrapStore });
  await left.collector.drained();
  const sql = "SELECT toUInt32(count()) AS n FROM tributary.spans";
  expect(await askStore(left.collector.store, { sql })).toEqual([{ n: records + 1 }]);
  expect(questions.length).toBeLessThan(records / 2);
  await left.remove();
});
