import { expect, test } from "vitest";
import { createJournal } from "#journal/journal.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { nothingApplied } from "./applied.ts";
import type { Input } from "./input.ts";
import { type Applier, Sequencer } from "./sequencer.ts";

function input(text: string): Input {
  const arrival = { workspace: "w", transport: "http", source: "", runOverride: null, imported: false, receivedNs: 1n };
  return { ...arrival, kind: "cirron_batch", body: new TextEncoder().encode(text) };
}

const decoded = { prepare: () => null, apply: () => nothingApplied };
const sink = { add: () => undefined, hasRoom: () => true, room: async () => undefined };

function applierOf(apply: Applier["apply"]): Applier {
  return {
    decode: () => decoded,
    decodeAgain: () => decoded,
    prepare: () => null,
    applyInTurns: () => Promise.reject(new Error("no input here takes long")),
    apply,
  };
}

test("lets others have their turns while it applies what one sync made durable", async () => {
  const journal = await createJournal({ dir: makeFolder() });
  const seen: string[] = [];
  const slow = applierOf((_, { body }) => {
    const untilMs = performance.now() + 10;
    while (performance.now() < untilMs);
    seen.push(new TextDecoder().decode(body));
    return nothingApplied;
  });
  const onFatal = (cause: unknown): void => {
    throw cause;
  };
  const hooks = { onApplied: () => undefined, onFailed: () => Promise.resolve(null), onFatal };
  const sequencer = new Sequencer(journal, sink, slow, { applied: 0, durable: 0 }, hooks);
  let isOver = false;
  const seenByOthers = new Set<number>();
  const look = (): void => {
    seenByOthers.add(seen.length);
    if (!isOver) setImmediate(look);
  };
  look();
  const texts = Array.from({ length: 20 }, (_, at) => `record ${at}`);
  const all = texts.map((text) => sequencer.submit(input(text)));
  expect(sequencer.backlogBytes).toBe(texts.join("").length);
  await Promise.all(all.map((one) => (typeof one === "string" ? one : one.applied)));
  isOver = true;
  expect(seen).toEqual(texts);
  expect(sequencer.backlogBytes).toBe(0);
  expect(seenByOthers.size).toBeGreaterThan(5);
  await journal.close();
});

test("ends the server when what was applied cannot be passed on: it would never be stored", async () => {
  const journal = await createJournal({ dir: makeFolder() });
  const bug = new Error("a bug");
  const onApplied = (): void => {
    throw bug;
  };
  const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>();
  const hooks = { onApplied, onFailed: () => Promise.resolve(null), onFatal };
  const applier = applierOf(() => nothingApplied);
  const sequencer = new Sequencer(journal, sink, applier, { applied: 0, durable: 0 }, hooks);
  // An input of this kind is passed on alone, in the turn in which it is applied.
  sequencer.submit({ ...input("alone"), kind: "refused" });
  expect(await fatal).toBe(bug);
  await journal.close();
});
