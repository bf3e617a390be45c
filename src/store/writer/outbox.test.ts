import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOutbox } from "./outbox.ts";

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
  expect((await again.open()).plans.map((plan) => [plan.to, [...plan.bytes]])).toEqual([
    [100, [2]],
    [120, [3]],
  ]);
  expect(await again.position()).toBe(9);
});

test("finishes a plan that had nothing to send", async () => {
  const outbox = await createOutbox(dir);
  await outbox.finish(5);
  expect(await outbox.position()).toBe(5);
  expect(await outbox.open()).toEqual({ plans: [], isDamaged: false });
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
  const { plans: open } = await again.open();
  expect(open.map(({ to }) => to)).toEqual([2]);
  expect([...((await open[0]?.readFile("spans")) ?? [])]).toEqual([2, 2]);
  expect(await open[0]?.readFile("marks")).toBeUndefined();
  expect((await readdir(dir)).sort()).toEqual(["0000000000000002.plan", "0000000000000002.spans.block", "position"]);
  await again.finish(2);
  expect(await readdir(dir)).toEqual(["position"]);
});
