import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeFiles } from "#base/files.ts";
import { createJournal, type Journal } from "#journal/journal.ts";
import { nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import { Sequencer } from "./sequencer.ts";
import { SetAside } from "./set-aside.ts";

let folder: string;
let journal: Journal | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tributary-aside-"));
});
afterEach(async () => {
  await journal?.close();
  rmSync(folder, { recursive: true });
});

function inputOf(text: string): Input {
  const arrival = { workspace: "default", transport: "http", source: "", runOverride: null, imported: false };
  return { ...arrival, kind: "text", receivedNs: 1n, body: Buffer.from(text) };
}

/** A process: it applies what the journal holds, and takes more. Some texts cannot be applied. */
async function start(bad: readonly string[]) {
  await journal?.close();
  journal = await createJournal({ dir: join(folder, "journal"), budgetBytes: 1 << 30, positionMin: 1 });
  const aside = new SetAside(folder, nodeFiles, () => undefined);
  const applied: string[] = [];
  const applier = {
    decode: () => ({ prepare: () => null, apply: () => nothingApplied }),
    prepare: () => null,
    apply(_: number, input: Input) {
      const text = Buffer.from(input.body).toString();
      if (bad.includes(text)) throw new RangeError(`${text} is bad`);
      applied.push(text);
      return nothingApplied;
    },
  };
  const sink = { add: () => undefined, hasRoom: () => true, room: async () => undefined };
  const start = { applied: 0, durable: journal.state().nextPosition - 1 };
  const hooks = { onApplied: () => undefined, onFatal: () => undefined };
  const sequencer = new Sequencer(aside.log(journal), sink, aside.applier(applier), start, hooks);
  const recover = async () => {
    aside.beginReplay();
    await sequencer.recover();
    aside.endReplay();
  };
  const submit = async (text: string) => {
    const submitted = sequencer.submit(inputOf(text));
    if (typeof submitted === "string") throw new Error(submitted);
    await submitted.applied;
  };
  return { aside, applied, recover, submit, sequencer };
}

it("sets a record aside that cannot be applied, with its bytes and the reason, and goes on with the others", async () => {
  const first = await start(["poison"]);
  await first.recover();
  await first.submit("before");
  await expect(first.submit("poison")).rejects.toThrow("poison is bad");
  const second = await start(["poison"]);
  await expect(second.recover()).rejects.toThrow("poison is bad");
  const third = await start(["poison"]);
  await third.recover();
  await third.submit("after");
  expect(third.applied).toEqual(["before", "after"]);
  expect(third.aside.list()).toEqual([2]);
  expect(third.aside.sentences()[0]).toContain("1 accepted records could not be applied");
  expect(JSON.parse(readFileSync(join(folder, "set-aside/2.json"), "utf8"))).toMatchObject({
    position: 2,
    reason: "RangeError: poison is bad",
  });
  expect(readFileSync(join(folder, "set-aside/2.record"), "latin1")).toContain("poison");
  const fourth = await start(["poison"]);
  await fourth.recover();
  expect(fourth.applied).toEqual(["before", "after"]);
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
