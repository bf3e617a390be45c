import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createJournal, type Journal } from "#journal/journal.ts";
import type { Batch } from "#model/batch.ts";
import { nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import { type Applier, type BatchSink, Sequencer, type Submitted } from "./sequencer.ts";

let dir = "";
let journal: Journal;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tributary-sequencer-"));
  journal = await createJournal({ dir });
});
afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true });
});

function input(text: string): Input {
  return {
    kind: "cirron_batch",
    workspace: "default",
    transport: "http",
    source: "",
    runOverride: null,
    imported: false,
    receivedNs: 1794710396768536383n,
    body: new TextEncoder().encode(text),
  };
}

const textOf = ({ body }: Input) => new TextDecoder().decode(body);

/** Remembers what was applied, in order; a text that was seen counts as a duplicate. */
function recorder() {
  const seen: string[] = [];
  const applier: Applier = {
    decode: () => ({ prepare: () => null, apply: () => nothingApplied }),
    prepare: () => null,
    apply(_, one) {
      expect(one.receivedNs).toBe(1794710396768536383n);
      const isKnown = seen.includes(textOf(one));
      seen.push(textOf(one));
      return { ...nothingApplied, accepted: isKnown ? 0 : 1, duplicates: isKnown ? 1 : 0 };
    },
  };
  return { seen, applier };
}

function sink(hasRoom: () => boolean = () => true): BatchSink & { batches: Batch[]; release: () => void } {
  const batches: Batch[] = [];
  let waiters: (() => void)[] = [];
  return {
    batches,
    add: (batch) => batches.push(batch),
    hasRoom,
    async room() {
      while (!hasRoom()) await new Promise<void>((resolve) => waiters.push(resolve));
    },
    release() {
      for (const waiter of waiters.splice(0)) waiter();
      waiters = [];
    },
  };
}

function started(submitted: Submitted): Exclude<Submitted, string> {
  if (typeof submitted === "string") throw new Error(submitted);
  return submitted;
}

const hooks = {
  onApplied: () => {},
  onFatal: (cause: unknown) => {
    throw cause;
  },
};

test("applies inputs in the order of the journal and answers with their counts", async () => {
  const { seen, applier } = recorder();
  const sequencer = new Sequencer(journal, sink(), applier, { applied: 0, durable: 0 }, hooks);
  const submitted = ["a", "b", "a"].map((text) => started(sequencer.submit(input(text))));
  const receipts = await Promise.all(submitted.map(({ applied }) => applied));
  expect(seen).toEqual(["a", "b", "a"]);
  expect(receipts.map(({ position, accepted, duplicates }) => [position, accepted, duplicates])).toEqual([
    [1, 1, 0],
    [2, 1, 0],
    [3, 0, 1],
  ]);
});

test("accepts while the store has no room, and applies from the journal once there is", async () => {
  const { seen, applier } = recorder();
  let room = false;
  const target = sink(() => room);
  const sequencer = new Sequencer(journal, target, applier, { applied: 0, durable: 0 }, hooks);
  const texts = Array.from({ length: 18 }, (_, at) => `${at}`.padEnd(4 * 1024 * 1024, "x"));
  const receipts: Promise<unknown>[] = [];
  for (const text of texts) {
    const { durable, applied } = started(sequencer.submit(input(text)));
    receipts.push(applied);
    await durable;
  }
  expect(seen).toEqual([]);
  room = true;
  target.release();
  await Promise.all(receipts);
  expect(seen.map((text) => text.replaceAll("x", ""))).toEqual(texts.map((text) => text.replaceAll("x", "")));
  expect(target.batches.map((batch) => batch.position)).toEqual(texts.map((_, at) => at + 1));
});

test("applies after a restart what the journal holds beyond the stored position", async () => {
  const first = recorder();
  const before = new Sequencer(journal, sink(), first.applier, { applied: 0, durable: 0 }, hooks);
  for (const text of ["a", "b", "c"]) await started(before.submit(input(text))).applied;
  await journal.close();
  journal = await createJournal({ dir });
  const { seen, applier } = recorder();
  const durable = journal.state().nextPosition - 1;
  const sequencer = new Sequencer(journal, sink(), applier, { applied: 1, durable }, hooks);
  await sequencer.recover();
  expect(seen).toEqual(["b", "c"]);
  await started(sequencer.submit(input("d"))).applied;
  expect(seen).toEqual(["b", "c", "d"]);
  expect(sequencer.position).toEqual({ applied: 4, durable: 4 });
});

/** An applier that finds "slow" only when the gate is open. */
function gated() {
  const { seen, applier } = recorder();
  const gate = Promise.withResolvers<void>();
  let isOpen = false;
  const slow: Applier = { ...applier, prepare: (one) => (textOf(one) === "slow" && !isOpen ? gate.promise : null) };
  const open = () => {
    isOpen = true;
    gate.resolve();
  };
  return { seen, slow, open };
}

test("waits for what an input needs from the store before it is applied, in order", async () => {
  const { seen, slow, open } = gated();
  const sequencer = new Sequencer(journal, sink(), slow, { applied: 0, durable: 0 }, hooks);
  const all = ["a", "slow", "b"].map((text) => started(sequencer.submit(input(text))));
  await Promise.all(all.map(({ durable }) => durable));
  expect(seen).toEqual(["a"]);
  open();
  await Promise.all(all.map(({ applied }) => applied));
  expect(seen).toEqual(["a", "slow", "b"]);
});

test("puts off an input that waits long, so that those behind it go on, and answers when it is applied", async () => {
  const { seen, slow, open } = gated();
  const target = sink();
  const sequencer = new Sequencer(journal, target, slow, { applied: 0, durable: 0 }, hooks);
  const [, late, after] = ["a", "slow", "b"].map((text) => started(sequencer.submit(input(text))));
  await after?.applied;
  expect(seen).toEqual(["a", "b"]);
  open();
  expect(await late?.applied).toMatchObject({ position: 4, accepted: 1 });
  expect(seen).toEqual(["a", "b", "slow"]);
  expect(target.batches.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
});

test.each([
  ["the store has not got past it: it is read itself", 0, ["a", "slow", "b"]],
  ["the store has got past it: its copy is read", 3, ["slow"]],
])("applies what was put off once after a crash, when %s", async (_, stored, expected) => {
  const before = gated();
  const first = new Sequencer(journal, sink(), before.slow, { applied: 0, durable: 0 }, hooks);
  const [, , after] = ["a", "slow", "b"].map((text) => started(first.submit(input(text))));
  await after?.applied;
  const { seen, applier } = recorder();
  const durable = journal.state().nextPosition - 1;
  expect(durable).toBe(4);
  const second = new Sequencer(journal, sink(), applier, { applied: stored, durable }, hooks);
  await second.recover();
  expect(seen).toEqual(expected);
  before.open();
});
