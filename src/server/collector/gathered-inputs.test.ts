// Inputs that become durable together are told as one batch. Whatever is in it, every sender must get the answer, and
// the store the rows, that one after the other would have given; also when a crash comes in between.

import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { defaultJsonLimits } from "#base/json/value.ts";
import { ProtocolApplier } from "#intake/applier.ts";
import type { AppliedInput } from "#intake/gathering.ts";
import type { Input } from "#intake/input.ts";
import type { IntakeStore } from "#intake/intake-store.ts";
import { type FailedInput, type Receipt, Sequencer } from "#intake/sequencer.ts";
import { createJournal, type Journal } from "#journal/journal.ts";
import { inputKinds } from "#protocol/protocols.ts";
import { createBlockMaker } from "#store/writer/blocks.ts";
import { toBatchText } from "../../../tests/support/cirron-batch.ts";
import { makeFolder } from "../../../tests/support/folder.ts";

let dir = "";
let journals: Journal[] = [];
beforeEach(async () => {
  dir = makeFolder();
  journals = [];
});
afterEach(async () => {
  for (const journal of journals) await journal.close();
});

const arrival = { transport: "http", source: "key:a", runOverride: null, imported: false, receivedNs: 1_000n };

function toInput(kind: string, body: string, more: object = {}): Input {
  return { ...arrival, kind, workspace: "default", body: new TextEncoder().encode(body), ...more };
}

const batchOf = (id: string, spans: readonly string[], at = 0): string =>
  toBatchText(
    id,
    spans.map((span, row) => ({ id: span, parent: row === 0 ? null : (spans[0] ?? null), name: "step", at: at + row })),
  );
const cirron = (body: string, more: object = {}): Input => toInput("cirron_batch", body, more);
const lines = (body: string): Input => toInput("semantiva_lines", body, { file: "", firstLine: 1, offset: 0 });

/** Good and bad, new and known, of two workspaces and two protocols, small and large, as a turn may bring them. */
const mixed: readonly Input[] = [
  cirron(batchOf("one", ["a", "b"])),
  cirron(batchOf("two", ["c"])),
  // The same batch again, and its rows under another id.
  cirron(batchOf("one", ["a", "b"])),
  cirron(batchOf("three", ["a", "d"])),
  // The same batch id and the same row with other content.
  cirron(batchOf("two", ["c", "e"], 100)),
  cirron('{"schema_version": 1, "batch_id": "faulty", "spans": [{"id": 7}], "marks": [], "snapshots": []}'),
  cirron("no batch at all"),
  cirron(batchOf("elsewhere", ["a"]), { workspace: "lab" }),
  cirron(batchOf("imported", ["f"]), { imported: true }),
  cirron(batchOf("named", ["g"]), { runOverride: "by-path" }),
  lines('{"record_type": "note", "schema_version": 1, "run_id": "run-1"}\nnot a line\n'),
  lines('{"record_type": "note", "schema_version": 1, "run_id": "run-1"}\n'),
  cirron(
    batchOf(
      "large",
      Array.from({ length: 90 }, (_, at) => `large ${at}`),
    ),
  ),
  cirron(batchOf("last", ["h", "a"])),
];

interface Told {
  readonly receipts: readonly Receipt[];
  readonly heard: readonly AppliedInput[];
}

/** A process on a journal: it applies what that holds, then takes inputs one after the other or all at once. */
async function take(folder: string, inputs: readonly Input[], how: "alone" | "together"): Promise<Told> {
  const journal = await createJournal({ dir: join(dir, folder) });
  journals.push(journal);
  const heard: AppliedInput[] = [];
  const applier = new ProtocolApplier({
    kinds: inputKinds,
    decodeLimits: { json: defaultJsonLimits, lineBytesMax: 1024 * 1024 },
    // It is fresh and nothing is dropped, so it is never asked.
    store: {} as IntakeStore,
    sessionGapNs: 1_000_000_000n,
    isFresh: true,
  });
  const sink = { add: () => undefined, hasRoom: () => true, room: () => Promise.resolve() };
  const start = { applied: 0, durable: journal.state().nextPosition - 1 };
  const hooks = {
    onApplied: (one: AppliedInput) => heard.push(one),
    onFailed: ({ cause }: FailedInput) => Promise.reject(cause),
    onFatal: (cause: unknown) => {
      throw cause;
    },
  };
  const sequencer = new Sequencer(journal, sink, applier, start, hooks);
  await sequencer.recover();
  const receipts: Promise<Receipt>[] = [];
  for (const input of inputs) {
    const submitted = sequencer.submit(input);
    if (typeof submitted === "string") throw new Error(submitted);
    receipts.push(submitted.applied);
    if (how === "alone") await submitted.applied;
  }
  return { receipts: await Promise.all(receipts), heard };
}

/** What the store is sent of it. */
async function toBlocks({ heard }: Told) {
  const blocks = await createBlockMaker("c").encode(heard.map(({ batch }) => batch));
  return blocks.map(({ table, rows, bytes }) => ({ table, rows, bytes: Buffer.from(bytes).toString("latin1") }));
}

it("gives every input of a turn the answer and the rows that it gets alone", async () => {
  const alone = await take("alone", mixed, "alone");
  const together = await take("together", mixed, "together");
  expect(alone.heard).toHaveLength(mixed.length);
  expect(together.heard.length).toBeLessThan(mixed.length);
  expect(together.receipts).toEqual(alone.receipts);
  expect(await toBlocks(together)).toEqual(await toBlocks(alone));
});

it("tells which journal records are in a batch, without a gap and in their order", async () => {
  const { heard } = await take("together", mixed, "together");
  const spans = heard.map(({ batch: { first, position } }) => [first, position] as const);
  expect(spans.map(([first]) => first)).toEqual([1, ...spans.slice(0, -1).map(([, position]) => position + 1)]);
  expect(spans.at(-1)?.[1]).toBe(mixed.length);
  for (const { input, batch } of heard) {
    const kinds = mixed.slice(batch.first - 1, batch.position).map(({ kind, workspace, imported }) => ({
      ...{ kind, workspace, imported },
    }));
    const { kind, workspace, imported } = input;
    for (const one of kinds) expect(one).toEqual({ kind, workspace, imported });
  }
});

it("gives the same rows when the journal is read again after a crash, and then knows every input", async () => {
  const before = await take("journal", mixed, "together");
  await journals.pop()?.close();
  const replayed = await take("journal", [], "alone");
  expect(await toBlocks(replayed)).toEqual(await toBlocks(before));
  await journals.pop()?.close();
  const again = await take("journal", mixed, "together");
  expect(again.receipts.map(({ accepted }) => accepted)).toEqual(mixed.map(() => 0));
});
