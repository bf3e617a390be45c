import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeFiles } from "#base/files.ts";
import { createJournal, type Journal } from "#journal/journal.ts";
import type { Batch } from "#model/batch.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { type Applied, nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import type { IntakeState } from "./intake-state.ts";
import { type Applier, type FailedInput, Sequencer } from "./sequencer.ts";
import { SetAside, triesMax } from "./set-aside.ts";

let folder: string;
let journal: Journal | undefined;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(async () => {
  await journal?.close();
});

function inputOf(text: string): Input {
  const arrival = { workspace: "default", transport: "http", source: "", runOverride: null, imported: false };
  return { ...arrival, kind: "text", receivedNs: 1n, body: Buffer.from(text) };
}

/** Texts need none. */
const noState = {} as IntakeState;

/** A process: it applies what the journal holds, and takes more. Some texts cannot be applied. */
async function start(bad: readonly string[]) {
  await journal?.close();
  journal = await createJournal({ dir: join(folder, "journal"), budgetBytes: 1 << 30, positionMin: 1 });
  const aside = new SetAside(folder, { files: nodeFiles, protocolOf: () => "xtrack", onTrouble: () => undefined });
  const applied: string[] = [];
  const decode = (input: Input) => ({ prepare: () => null, apply: () => take(Buffer.from(input.body).toString()) });
  const applier: Applier = {
    decode,
    decodeAgain: (_, input) => decode(input),
    prepare: () => null,
    applyInTurns: () => Promise.reject(new Error("no text takes long")),
    apply: (position, input, decoded) => decoded.apply(noState, input, position) as Applied,
  };
  const take = (text: string): Applied => {
    if (bad.includes(text)) throw new RangeError(`${text} is bad`);
    applied.push(text);
    return nothingApplied;
  };
  const batches: Batch[] = [];
  const sink = { add: (batch: Batch) => batches.push(batch), hasRoom: () => true, room: async () => undefined };
  const start = { applied: 0, durable: journal.state().nextPosition - 1 };
  const onFailed = (failed: FailedInput) => (failed.tries < triesMax ? Promise.resolve(null) : aside.put(failed));
  const hooks = { onApplied: () => undefined, onFailed, onFatal: () => undefined };
  const sequencer = new Sequencer(aside.log(journal), sink, aside.applier(applier), start, hooks);
  const recover = async () => {
    aside.beginReplay();
    await sequencer.recover();
    aside.endReplay();
  };
  const submit = async (text: string) => {
    const submitted = sequencer.submit(inputOf(text));
    if (typeof submitted === "string") throw new Error(submitted);
    return submitted.applied;
  };
  return { aside, applied, batches, recover, submit, sequencer };
}

it("sets a record aside that cannot be applied, with its bytes and the reason, and goes on with the others", async () => {
  const first = await start(["poison"]);
  await first.recover();
  await first.submit("before");
  const { faults } = await first.submit("poison");
  await first.submit("after");
  expect(first.applied).toEqual(["before", "after"]);
  expect(faults).toMatchObject([{ code: "record_set_aside", detail: "6 bytes: RangeError: poison is bad" }]);
  expect(Buffer.from(faults[0]?.raw ?? []).toString()).toBe("poison");
  expect(first.aside.list()).toEqual([2]);
  expect(first.aside.sentences()[0]).toContain("1 accepted records could not be applied");
  expect(first.aside.describe()).toMatchObject([{ position: 2, tries: 2, reason: "RangeError: poison is bad" }]);
  expect(readFileSync(join(folder, "set-aside/2.record"), "latin1")).toContain("poison");
});

it("applies only the fault of what is set aside when the journal is replayed, at its end as well", async () => {
  const first = await start(["poison"]);
  await first.recover();
  await first.submit("before");
  await first.submit("poison");
  const second = await start(["poison"]);
  await second.recover();
  expect(second.applied).toEqual(["before"]);
  expect(second.batches.map(({ position, parts }) => [position, parts.map(({ table }) => table)])).toEqual([
    [1, []],
    [2, ["faults"]],
  ]);
  expect(second.aside.describe()).toMatchObject([{ position: 2, tries: 2 }]);
});

it("keeps a file that cannot be read back, when it is told to try it again", async () => {
  const first = await start(["poison"]);
  await first.recover();
  await first.submit("poison");
  writeFileSync(join(folder, "set-aside/1.record"), "torn");
  await first.aside.retryNow(null, () => Promise.reject(new Error("nothing to take")));
  expect(first.aside.list()).toEqual([1]);
});

it("sets a record aside at the second start that it ended otherwise", async () => {
  const first = await start([]);
  await first.recover();
  for (const text of ["a", "refused"]) await first.submit(text);
  for (const cause of ["once", "twice"]) {
    const failing = await start([]);
    failing.aside.beginReplay();
    failing.aside.blame({ position: 2, cause });
  }
  const last = await start([]);
  await last.recover();
  expect(last.applied).toEqual(["a"]);
  expect(last.aside.describe()).toMatchObject([{ position: 2, tries: 2, reason: "twice" }]);
});

it("finds by its note the record that took the process with it, after two deaths", async () => {
  const first = await start([]);
  await first.recover();
  for (const text of ["a", "kills", "c"]) await first.submit(text);
  // What a process leaves behind that died with record 2 in hand for the second time.
  writeFileSync(join(folder, "applying"), JSON.stringify({ position: 2, tries: 2, reason: "" }).padEnd(96));
  const second = await start([]);
  await second.recover();
  expect(second.applied).toEqual(["a", "c"]);
  expect(second.aside.list()).toEqual([2]);
  expect(existsSync(join(folder, "applying"))).toBe(false);
});

it("leaves alone what failed once and works now", async () => {
  const first = await start([]);
  await first.recover();
  for (const text of ["a", "slow"]) await first.submit(text);
  writeFileSync(join(folder, "applying"), JSON.stringify({ position: 2, tries: 1, reason: "" }).padEnd(96));
  const second = await start([]);
  await second.recover();
  expect(second.applied).toEqual(["a", "slow"]);
  expect(second.aside.list()).toEqual([]);
});

it("describes what is set aside, and tries some of it again when it is told to", async () => {
  const first = await start([]);
  await first.recover();
  for (const text of ["a", "b"]) await first.submit(text);
  writeFileSync(join(folder, "applying"), JSON.stringify({ position: 2, tries: 2, reason: "it was too odd" }));
  const second = await start([]);
  await second.recover();
  expect(second.aside.describe()).toMatchObject([{ position: 2, tries: 2, reason: "it was too odd" }]);
  const taken: string[] = [];
  const take = async (input: Input) => {
    taken.push(Buffer.from(input.body).toString());
  };
  expect(await second.aside.retryNow([7], take)).toBe(0);
  expect(await second.aside.retryNow(null, take)).toBe(1);
  expect([taken, second.aside.list(), second.aside.describe()]).toEqual([["b"], [], []]);
});

it("tries a record again that was renamed for it", async () => {
  const first = await start([]);
  await first.recover();
  for (const text of ["a", "b"]) await first.submit(text);
  writeFileSync(join(folder, "applying"), JSON.stringify({ position: 1, tries: 2, reason: "" }));
  const second = await start([]);
  await second.recover();
  renameSync(join(folder, "set-aside/1.record"), join(folder, "set-aside/1.retry"));
  const third = await start([]);
  await third.recover();
  const taken: string[] = [];
  await third.aside.retry(async (input) => {
    taken.push(Buffer.from(input.body).toString());
  });
  expect(taken).toEqual(["a"]);
  expect(third.aside.sentences()).toEqual([]);
  expect(existsSync(join(folder, "set-aside/1.retry"))).toBe(false);
});
