import { mkdtemp, rm } from "node:fs/promises";
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
  await outbox.save(120, [new Uint8Array([3])]);
  await outbox.save(9, [new Uint8Array([1])]);
  await outbox.save(100, [new Uint8Array([2])]);
  await outbox.finish(9);
  const again = await createOutbox(dir);
  expect((await again.open()).map((plan) => [plan.to, [...plan.bytes]])).toEqual([
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
