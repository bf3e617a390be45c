import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskOutage } from "#base/disk-outage.ts";
import { createJournal, type Journal } from "#journal/journal.ts";
import type { Batch } from "#model/batch.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import type { IntakeState } from "./intake-state.ts";
import {
  type Applier,
  type BatchSink,
  type FailedInput,
  type InputLog,
  Sequencer,
  type Submitted,
} from "./sequencer.ts";

let dir = "";
let journal: Journal;
beforeEach(async () => {
  dir = makeFolder();
  journal = await createJournal({ dir });
});
afterEach(async () => {
  await journal.close();
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

const decoded = { prepare: () => null, apply: () => nothingApplied };

/** Remembers what was applied, in order; a text that was seen counts as a duplicate. */
function recorder() {
  const seen: string[] = [];
  const applier: Applier = {
    decode: () => decoded,
    decodeAgain: () => decoded,
    prepare: () => null,
    applyInTurns: () => Promise.reject(new Error("no input here takes long")),
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
  onFailed: ({ cause }: { cause: unknown }) => Promise.reject(cause),
  onFatal: (cause: unknown) => {
    throw cause;
  },
};

test("says that what came before had its turn, while more and more waits", async () => {
  const { applier } = recorder();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const open = new Set<string>();
  const slow: Applier = {
    ...applier,
    prepare(one) {
      const text = textOf(one);
      if (open.has(text)) return null;
      const gate = gates.get(text) ?? Promise.withResolvers<void>();
      gates.set(text, gate);
      return gate.promise;
    },
  };
  const sequencer = new Sequencer(journal, sink(), slow, { applied: 0, durable: 0 }, hooks);
  const first = sequencer.submit(input("first")) as Exclude<Submitted, string>;
  await first.durable;
  const turn = sequencer.hadTurn();
  const second = sequencer.submit(input("second")) as Exclude<Submitted, string>;
  await second.durable;
  open.add("first");
  gates.get("first")?.resolve();
  await turn;
  expect(sequencer.position).toMatchObject({ applied: 1, durable: 2 });
  open.add("second");
  gates.get("second")?.resolve();
  await sequencer.drained();
  expect(sequencer.position.applied).toBeGreaterThanOrEqual(2);
});

test("lets a caller wait for the disk alone: an unheard failure to apply would fail this run", async () => {
  const failing = { ...journal, append: () => Promise.reject(new DiskOutage("disk_failed", "gone")) };
  const sequencer = new Sequencer(failing, sink(), recorder().applier, { applied: 0, durable: 0 }, hooks);
  await expect(started(sequencer.submit(input("a"))).durable).rejects.toThrow("gone");
});

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
  const short = (text: string) => [text.slice(0, 4), text.length];
  expect(seen.map(short)).toEqual(texts.map(short));
  const positions = target.batches.flatMap(({ first, position }) =>
    Array.from({ length: position - first + 1 }, (_, at) => first + at),
  );
  expect(positions).toEqual(texts.map((_, at) => at + 1));
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

test("waits with an input that cannot be put off because the disk takes no more", async () => {
  const { seen, slow, open } = gated();
  const refused = Promise.withResolvers<void>();
  // The first three are taken; a copy is not.
  let left = 3;
  const full: InputLog = {
    replay: (from) => journal.replay(from),
    append(parts) {
      if (left-- > 0) return journal.append(parts);
      refused.resolve();
      return Promise.reject(new DiskOutage("disk_full", "ENOSPC"));
    },
  };
  const fatal: unknown[] = [];
  const onFatal = (cause: unknown) => fatal.push(cause);
  const sequencer = new Sequencer(full, sink(), slow, { applied: 0, durable: 0 }, { ...hooks, onFatal });
  const all = ["a", "slow", "b"].map((text) => started(sequencer.submit(input(text))));
  await refused.promise;
  open();
  await Promise.all(all.map(({ applied }) => applied));
  expect([seen, fatal]).toEqual([["a", "slow", "b"], []]);
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
  const target = sink();
  const second = new Sequencer(journal, target, applier, { applied: stored, durable }, hooks);
  await second.recover();
  expect(seen).toEqual(expected);
  // Whoever waits for everything to be stored waits for the last record, also where nothing is stored of it.
  expect(target.batches.at(-1)?.position).toBe(durable);
  before.open();
});

/** An applier that throws at "poison" after it changed the state, as often as it is told. */
function poisoned(times: number) {
  const { seen, applier } = recorder();
  const decoded: (number | undefined)[] = [];
  let left = times;
  const throwing: Applier = {
    ...applier,
    decode(one) {
      decoded.push(undefined);
      return applier.decode(one);
    },
    decodeAgain(position, one) {
      decoded.push(position);
      return applier.decodeAgain(position, one);
    },
    apply(position, one, how) {
      const applied = applier.apply(position, one, how);
      if (textOf(one) === "poison" && left-- > 0) throw new RangeError("poison");
      return applied;
    },
  };
  return { seen, throwing, decoded };
}

test("applies what the hook gives in place of a record that fails, in its turn, and goes on behind it", async () => {
  const { seen, throwing } = poisoned(1);
  const target = sink();
  const failed: string[] = [];
  const instead = { ...nothingApplied, duplicates: 7 };
  const onFailed = async ({ position, tries, cause }: FailedInput) => {
    failed.push(`${position} ${tries} ${cause}`);
    await Promise.all(all.map(({ durable }) => durable));
    seen.push("mended");
    return instead;
  };
  const sequencer = new Sequencer(journal, target, throwing, { applied: 0, durable: 0 }, { ...hooks, onFailed });
  const all = ["a", "poison", "b"].map((text) => started(sequencer.submit(input(text))));
  const receipts = await Promise.all(all.map(({ applied }) => applied));
  expect(seen).toEqual(["a", "poison", "mended", "b"]);
  expect(failed).toEqual(["2 1 RangeError: poison"]);
  expect(receipts[1]).toMatchObject({ position: 2, accepted: 0, duplicates: 7 });
  expect(target.batches.map(({ position }) => position)).toEqual([1, 2, 3]);
});

test("decodes a record again when it is tried again, because the first try may have used it up", async () => {
  const { seen, throwing, decoded } = poisoned(1);
  const onFailed = async () => {
    seen.length = 0;
    return null;
  };
  const sequencer = new Sequencer(journal, sink(), throwing, { applied: 0, durable: 0 }, { ...hooks, onFailed });
  expect(await started(sequencer.submit(input("poison"))).applied).toMatchObject({ position: 1, accepted: 1 });
  expect(seen).toEqual(["poison"]);
  expect(decoded).toEqual([undefined, 1]);
});

test.each(["decode", "decode in turns", "prepare", "wait"])(
  "hears of a record that fails to %s when the journal is replayed",
  async (step) => {
    const first = new Sequencer(journal, sink(), recorder().applier, { applied: 0, durable: 0 }, hooks);
    for (const text of ["a", "poison", "b"]) await started(first.submit(input(text))).applied;
    const { seen, applier } = recorder();
    const isPoison = (one: Input, at: string) => step === at && textOf(one) === "poison";
    const fail = (): never => {
      throw new RangeError(step);
    };
    const failing: Applier = {
      ...applier,
      decodeAgain: (position, one) => {
        if (isPoison(one, "decode in turns")) return Promise.reject(new RangeError(step));
        return isPoison(one, "decode") ? fail() : applier.decodeAgain(position, one);
      },
      prepare: (one) => {
        if (isPoison(one, "wait")) return Promise.reject(new RangeError(step));
        return isPoison(one, "prepare") ? fail() : null;
      },
    };
    const tries: number[] = [];
    const onFailed = async (failed: FailedInput) => {
      tries.push(failed.tries);
      return failed.tries === 2 ? nothingApplied : null;
    };
    const second = new Sequencer(journal, sink(), failing, { applied: 0, durable: 3 }, { ...hooks, onFailed });
    await second.recover();
    expect(seen).toEqual(["a", "b"]);
    expect(tries).toEqual([1, 2]);
    expect(second.position).toEqual({ applied: 3, durable: 3 });
  },
);

/** "long" is applied in three steps; others may look at what was applied between them. */
function stepwise(fails: boolean) {
  const { seen, applier } = recorder();
  function* steps(): Generator<void, Applied> {
    for (const step of ["long 1", "long 2"]) {
      seen.push(step);
      yield;
    }
    if (fails) throw new RangeError("in the middle");
    return nothingApplied;
  }
  const turns: Applier = {
    ...applier,
    decode: (one) => (textOf(one) === "long" ? { ...decoded, apply: steps, isLong: true } : decoded),
    async applyInTurns(_, __, { apply }) {
      const taking = apply({} as IntakeState, input(""), 0) as Generator<void, Applied>;
      for (;;) {
        const step = taking.next();
        if (step.done === true) return step.value;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
  return { seen, turns };
}

test("applies what takes long in turns, and nothing else between them", async () => {
  const { seen, turns } = stepwise(false);
  const target = sink();
  const sequencer = new Sequencer(journal, target, turns, { applied: 0, durable: 0 }, hooks);
  const all = ["a", "long", "b"].map((text) => started(sequencer.submit(input(text))));
  await Promise.all(all.map(({ applied }) => applied));
  expect(seen).toEqual(["a", "long 1", "long 2", "b"]);
  expect(target.batches.map(({ position }) => position)).toEqual([1, 2, 3]);
});

test("hears of a record that fails in one of its turns", async () => {
  const { seen, turns } = stepwise(true);
  const causes: string[] = [];
  const onFailed = async ({ cause }: FailedInput) => {
    causes.push(String(cause));
    return nothingApplied;
  };
  const sequencer = new Sequencer(journal, sink(), turns, { applied: 0, durable: 0 }, { ...hooks, onFailed });
  const all = ["long", "b"].map((text) => started(sequencer.submit(input(text))));
  await Promise.all(all.map(({ applied }) => applied));
  expect(seen).toEqual(["long 1", "long 2", "b"]);
  expect(causes).toEqual(["RangeError: in the middle"]);
});
