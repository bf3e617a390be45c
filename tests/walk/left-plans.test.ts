// Plans that the store had not taken when the server was killed: the next start sends them before anything else, and then
// knows what they say: a run that is to be deleted, one that was joined to another, how late the last version was.

import { cpSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { nowNs } from "#base/clock.ts";
import { toChangeInput } from "#intake/changes.ts";
import type { Collector } from "#server/collector/collector.ts";
import { orderDeletion } from "#server/collector/deletion.ts";
import { askStore } from "../support/ask-store.ts";
import { cirronInput, createTestCollector, openTestCollector, submitted } from "../support/collector.ts";
import { makeFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { childrenOf } from "../support/process-tree.ts";
import { eventually } from "../support/several.ts";

const points = Array.from({ length: 50 }, (_, at) => {
  const payload = { run_id: "again", key: "loss", value: at, step: at };
  return toFrame({ type: "metric", seq: at + 1, ts: at + 1, payload });
});

function send(collector: Collector) {
  return submitted(collector, cirronInput(Buffer.concat(points), { kind: "xtrack_frames" }));
}

/** A collector that has stored the points, then did something that its store never heard of, as it is started again. */
async function killedAfter(unheard: (collector: Collector) => Promise<unknown>): Promise<Collector> {
  const others = childrenOf(process.pid);
  const killed = await createTestCollector();
  const engines = childrenOf(process.pid).filter((pid) => !others.includes(pid));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of engines) process.kill(pid, name);
  };
  const dataDir = makeFolder();
  let next: Collector | undefined;
  onTestFinished(async () => {
    signal("SIGCONT");
    await next?.close(5000);
    await killed.remove();
  });
  expect(await send(killed.collector)).toMatchObject({ accepted: 50 });
  await killed.collector.drained();
  signal("SIGSTOP");
  await unheard(killed.collector);
  const outbox = join(killed.dataDir, "outbox");
  await eventually(() => readdirSync(outbox).some((name) => name.endsWith(".plan")), "no plan was made of it");
  // What lies on the disk now is what a kill would leave.
  cpSync(killed.dataDir, dataDir, { recursive: true });
  signal("SIGCONT");
  next = await openTestCollector(dataDir, () => undefined);
  return next;
}

test("a run whose deletion was ordered is gone, and can be sent again", async () => {
  const runs = [{ runId: "again", groupKeys: ["default/x/again"] }];
  const next = await killedAfter((killed) => orderDeletion(killed, { workspace: "default", runs, author: "somebody" }));
  expect(await send(next)).toMatchObject({ accepted: 50, duplicates: 0 });
  await next.drained();
  const sql = `SELECT count() AS n FROM ${next.store.database}.metrics`;
  expect(await askStore(next.store, { sql })).toEqual([{ n: "50" }]);
  expect(await send(next)).toMatchObject({ accepted: 0, duplicates: 50 });
});

test("a join holds, and what is changed next is later than it, though the clock was set back", async () => {
  const version = nowNs() + 3_600_000_000_000n;
  const row = { workspace: "default", run_id: "again", into_run: "whole", parted: 0, author: "somebody", version };
  const next = await killedAfter((killed) =>
    submitted(killed, toChangeInput([{ table: "joins", row }], "default", "somebody")),
  );
  expect(next.applier.state.joins.runOf("default", "again")).toBe("whole");
  expect(next.versions.later(nowNs())).toBeGreaterThan(version);
});

/** The engine knows blocks by their tokens, which it writes down and does not sync. */
function forgetTokens(dataDir: string, keptBytes: (size: number) => number): number {
  const names = readdirSync(dataDir, { recursive: true, encoding: "utf8" });
  const logs = names.filter((name) => /deduplication_log_\d+\.txt$/.test(name)).map((name) => join(dataDir, name));
  for (const path of logs) truncateSync(path, keptBytes(statSync(path).size));
  return logs.length;
}

/** As the power may leave it: the blocks of a plan are stored, and the plan is still in the outbox. */
async function storedWithPlan(): Promise<string> {
  const others = childrenOf(process.pid);
  const test = await createTestCollector();
  onTestFinished(() => test.remove());
  const engines = childrenOf(process.pid).filter((pid) => !others.includes(pid));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of engines) process.kill(pid, name);
  };
  onTestFinished(() => signal("SIGCONT"));
  signal("SIGSTOP");
  const [dataDir, outbox] = [makeFolder(), join(test.dataDir, "outbox")];
  await send(test.collector);
  await eventually(() => readdirSync(outbox).some((name) => name.endsWith(".plan")), "no plan was made of it");
  const kept = makeFolder();
  cpSync(outbox, kept, { recursive: true });
  signal("SIGCONT");
  await test.collector.drained();
  cpSync(test.dataDir, dataDir, { recursive: true });
  rmSync(join(dataDir, "outbox"), { recursive: true });
  cpSync(kept, join(dataDir, "outbox"), { recursive: true });
  return dataDir;
}

for (const [left, keptBytes] of [
  ["nothing", () => 0],
  ["half a line", (size: number) => Math.floor(size / 2)],
] as const)
  test(`a plan is stored once although its blocks are there and ${left} is left of what the engine knew them by`, async () => {
    const dataDir = await storedWithPlan();
    expect(forgetTokens(dataDir, keptBytes)).toBeGreaterThan(10);
    const next = await openTestCollector(dataDir, () => undefined);
    onTestFinished(() => next.close(5000));
    const sql = `SELECT count() AS n, uniqExact(seq) AS seqs FROM ${next.store.database}.metrics`;
    expect(await askStore(next.store, { sql })).toEqual([{ n: "50", seqs: "50" }]);
    expect(await send(next)).toMatchObject({ accepted: 0, duplicates: 50 });
  });
