import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { makeFolder } from "../../../tests/support/folder.ts";
import { readOpenPlans } from "./open-plans.ts";
import { createOutbox } from "./outbox.ts";
import { encodePlan } from "./plan.ts";

let dir = "";
beforeEach(async () => {
  dir = makeFolder();
});

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

/** Two plans, of which the second was never sent; the first may have been, in part. */
async function leaveTwo(): Promise<{ first: string; second: string; start(): ReturnType<typeof readOpenPlans> }> {
  const outbox = await createOutbox(dir);
  await outbox.finish(40);
  await outbox.save(60, await encodePlan({ from: 41, to: 60, blocks: [] }));
  await outbox.save(100, await encodePlan({ from: 61, to: 100, blocks: [] }));
  return {
    first: join(dir, "0000000000000060.plan"),
    second: join(dir, "0000000000000100.plan"),
    start: async () => readOpenPlans(await createOutbox(dir), async () => 1),
  };
}

test("gives a start both plans of a process that was killed, in their order", async () => {
  const { start } = await leaveTwo();
  expect(await start()).toMatchObject({ position: 100, plans: [{ to: 60 }, { to: 100 }], isDamaged: false });
});

test("a plan behind a damaged one is sent by no start, also when the damaged one's records are stored", async () => {
  const { first, start } = await leaveTwo();
  await truncate(first, 3);
  expect(await start()).toEqual({ position: 40, plans: [], isDamaged: true });
  // The records of both came into other plans, of which one was stored before the next kill.
  const outbox = await createOutbox(dir);
  await outbox.save(80, await encodePlan({ from: 41, to: 80, blocks: [] }));
  await outbox.finish(80);
  expect(await start()).toEqual({ position: 80, plans: [], isDamaged: true });
  await outbox.finish(100);
  expect(await start()).toEqual({ position: 100, plans: [], isDamaged: false });
  expect(await readdir(dir)).toEqual(["position"]);
});

test("a plan is not sent when the one ahead of it is gone, nor does a damaged one keep the one ahead of it", async () => {
  const { first, second, start } = await leaveTwo();
  await truncate(second, 3);
  expect(await start()).toMatchObject({ position: 60, plans: [{ to: 60 }], isDamaged: true });
  await rm(second);
  const outbox = await createOutbox(dir);
  await outbox.save(100, await encodePlan({ from: 61, to: 100, blocks: [] }));
  await rm(first);
  expect(await start()).toEqual({ position: 40, plans: [], isDamaged: true });
});

test("a start that does not know how far the store has got sends what it finds", async () => {
  const { first, start } = await leaveTwo();
  await rm(first);
  await truncate(join(dir, "position"), 1);
  expect(await start()).toMatchObject({ position: 100, plans: [{ to: 100 }], isDamaged: true });
});
