import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOutbox } from "./outbox.ts";
import { encodePlan } from "./plan.ts";
import { readOpenPlans } from "./writer.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tributary-outbox-"));
});
afterEach(() => rm(dir, { recursive: true }));

test("finds the plans that were not finished, in the order of their records", async () => {
  const outbox = await createOutbox(dir);
  await outbox.save(120, { parts: [new Uint8Array([3])], files: [] });
  await outbox.save(9, { parts: [new Uint8Array([1])], files: [] });
  await outbox.save(100, { parts: [new Uint8Array([2])], files: [] });
  await outbox.finish(9);
  const again = await createOutbox(dir);
  expect((await again.open()).map((plan) => [plan.to, [...(plan.bytes ?? [])]])).toEqual([
    [100, [2]],
    [120, [3]],
  ]);
  expect(await again.position()).toBe(9);
});

test("finishes a plan that had nothing to send", async () => {
  const outbox = await createOutbox(dir);
  await outbox.finish(5);
  expect(await outbox.position()).toBe(5);
  expect(await outbox.open()).toEqual([]);
});

test("keeps the files of a plan with it, and removes those of plans that are done or never came to be", async () => {
  const outbox = await createOutbox(dir);
  const plan = (byte: number) => ({
    parts: [new Uint8Array([byte])],
    files: [{ name: "spans", bytes: new Uint8Array([byte, byte]) }],
  });
  await outbox.save(1, plan(1));
  await outbox.save(2, plan(2));
  await outbox.save(3, plan(3));
  await outbox.finish(1);
  await rm(join(dir, "0000000000000003.plan"));
  const again = await createOutbox(dir);
  const open = await again.open();
  expect(open.map(({ to }) => to)).toEqual([2]);
  expect([...((await open[0]?.readFile("spans")) ?? [])]).toEqual([2, 2]);
  expect(await open[0]?.readFile("marks")).toBeUndefined();
  expect((await readdir(dir)).sort()).toEqual(["0000000000000002.plan", "0000000000000002.spans.block", "position"]);
  await again.finish(2);
  expect(await readdir(dir)).toEqual(["position"]);
});

test("a damaged plan says that its rows may be half stored, for as long as its records are not stored", async () => {
  const outbox = await createOutbox(dir);
  const first = async () => 1;
  await outbox.finish(40);
  await outbox.save(100, await encodePlan({ from: 41, to: 100, blocks: [] }));
  const path = join(dir, "0000000000000100.plan");
  const bytes = await readFile(path);
  await writeFile(
    path,
    bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)),
  );
  const start = async () => readOpenPlans(await createOutbox(dir), first);
  expect(await start()).toEqual({ position: 40, plans: [], isDamaged: true });
  // Its records came into smaller plans, of which one was stored before the next kill.
  await outbox.save(60, await encodePlan({ from: 41, to: 60, blocks: [] }));
  await outbox.finish(60);
  expect(await start()).toMatchObject({ position: 60, isDamaged: true });
  await outbox.finish(120);
  expect(await start()).toEqual({ position: 120, plans: [], isDamaged: false });
  expect(await readdir(dir)).toEqual(["position"]);
});
