// A deletion whose plan the store had not taken when the server was killed: the next start sends the plan and carries the
// deletion out, and what comes for the run then is new.

import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Collector } from "#server/collector/collector.ts";
import { orderDeletion } from "#server/collector/deletion.ts";
import { cirronInput, createTestCollector, openTestCollector, submitted } from "../support/collector.ts";
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

test("is carried out by the next start, and the run can be sent again", async () => {
  const others = childrenOf(process.pid);
  const killed = await createTestCollector();
  const engines = childrenOf(process.pid).filter((pid) => !others.includes(pid));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of engines) process.kill(pid, name);
  };
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-test-"));
  onTestFinished(async () => {
    signal("SIGCONT");
    await killed.remove();
    rmSync(dataDir, { recursive: true, force: true });
  });
  expect(await send(killed.collector)).toMatchObject({ accepted: 50 });
  await killed.collector.drained();
  signal("SIGSTOP");
  const runs = [{ runId: "again", groupKeys: ["default/x/again"] }];
  await orderDeletion(killed.collector, { workspace: "default", runs, author: "somebody" });
  const outbox = join(killed.dataDir, "outbox");
  await eventually(() => readdirSync(outbox).some((name) => name.endsWith(".plan")), "no plan was made of it");
  // What lies on the disk now is what a kill would leave.
  cpSync(killed.dataDir, dataDir, { recursive: true });
  signal("SIGCONT");

  const next = await openTestCollector(dataDir, () => undefined);
  try {
    expect(await send(next)).toMatchObject({ accepted: 50, duplicates: 0 });
    await next.drained();
    const sql = `SELECT count() AS n FROM ${next.store.database}.metrics`;
    expect(await next.store.query({ sql })).toEqual([{ n: "50" }]);
    expect(await send(next)).toMatchObject({ accepted: 0, duplicates: 50 });
  } finally {
    await next.close(5000);
  }
}, 120_000);
