// The plan that is made while another one is being sent.

import { readdir } from "node:fs/promises";
import { setImmediate as nextRound } from "node:timers/promises";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { Batch } from "#model/batch.ts";
import { StoreOutage } from "#store/outage.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { readOpenPlans } from "./open-plans.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import type { PlannedBlock } from "./plan.ts";
import type { BlockStore } from "./send-plan.ts";
import { StoreWriter, type WriterOptions } from "./writer.ts";

/** Of a row that is a plan of its own. */
const large = 1000;
/** So large that a block has a file of its own. */
const fileBytes = 300 * 1024;

let dir = "";
beforeEach(async () => {
  dir = makeFolder();
});

const batchAt = (position: number, bytes = large): Batch => ({
  first: position,
  position,
  parts: [],
  state: [],
  bytes,
});

/** A store that says what it is offered, and answers when it is told to. */
class Gate {
  readonly offered: string[] = [];
  readonly taken: string[] = [];
  readonly kind: BlockStore["kind"];
  readonly lengths: number[] = [];
  private answers: PromiseWithResolvers<void>[] = [];

  constructor(kind: BlockStore["kind"] = "embedded") {
    this.kind = kind;
  }

  insert: BlockStore["insert"] = async (_table, { bytes }, { token }) => {
    this.offered.push(token);
    this.lengths.push(bytes.length);
    const answer = Promise.withResolvers<void>();
    this.answers.push(answer);
    await answer.promise;
    this.taken.push(token);
  };

  async take(): Promise<void> {
    await eventually(() => this.answers.length).toBeGreaterThan(0);
    this.answers.shift()?.resolve();
  }

  async refuse(kind: "refused" | "closed"): Promise<void> {
    await eventually(() => this.answers.length).toBeGreaterThan(0);
    this.answers.shift()?.reject(new StoreOutage(kind, kind));
  }
}

async function createWriter(
  gate: Gate,
  options: Partial<WriterOptions> = {},
  blockBytes = 1,
  tables: readonly PlannedBlock["table"][] = ["marks"],
) {
  const outbox = await createOutbox(dir);
  const released: number[] = [];
  const writer = new StoreWriter(
    outbox,
    gate,
    {
      encode: async () => tables.map((table) => ({ table, columns: [], rows: 1, bytes: new Uint8Array(blockBytes) })),
      release: ({ bytes }) => released.push(bytes.length),
    },
    {
      tokenPrefix: "c",
      lingerMs: 1,
      steadyLingerMs: 1,
      planBytesEnough: large,
      planBytesMax: 1500,
      pendingBytesMax: 1_000_000,
      pendingShare: () => 1,
      refusedRetryMs: 1,
      onStored: () => undefined,
      onTrouble: () => undefined,
      onLateRetry: ({ token }) => expect.unreachable(token),
      onUnstorable: (_, cause) => expect.unreachable(String(cause)),
      onStopped: (cause) => expect.unreachable(String(cause)),
      ...options,
    },
    0,
  );
  writer.open();
  onTestFinished(() => writer.close(1));
  return { writer, outbox, released };
}

async function plansIn(folder: string): Promise<string[]> {
  return (await readdir(folder))
    .filter((name) => name.endsWith(".plan"))
    .map((name) => String(Number.parseInt(name, 10)));
}

/** However slow the machine is. */
function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: 30_000 });
}

/** Whatever was about to happen has. */
async function settle(): Promise<void> {
  for (let round = 0; round < 200; round++) await nextRound();
}

it("makes the next plan durable before the one ahead of it is taken, sends it after that, and makes no third", async () => {
  const gate = new Gate();
  const { writer, outbox } = await createWriter(gate);
  for (let position = 1; position <= 3; position++) writer.add(batchAt(position));
  await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
  await settle();
  expect(await plansIn(dir)).toEqual(["1", "2"]);
  expect(gate.offered).toEqual(["c-1-1-marks"]);
  await gate.take();
  await eventually(() => gate.offered).toEqual(["c-1-1-marks", "c-2-2-marks"]);
  // It is sent when the position says that the first is stored.
  expect([await outbox.position(), writer.stored]).toEqual([1, 1]);
  await eventually(() => plansIn(dir)).toEqual(["2", "3"]);
  await gate.take();
  await gate.take();
  await writer.storedUpTo(3);
  expect([gate.taken, await plansIn(dir)]).toEqual([["c-1-1-marks", "c-2-2-marks", "c-3-3-marks"], []]);
});

it("does not send a plan while the one ahead of it is refused", async () => {
  const gate = new Gate();
  const { writer } = await createWriter(gate);
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
  for (let refusal = 0; refusal < 3; refusal++) await gate.refuse("refused");
  await gate.take();
  await gate.take();
  await writer.storedUpTo(2);
  expect(gate.offered).toEqual([...Array.from({ length: 4 }, () => "c-1-1-marks"), "c-2-2-marks"]);
});

it("leaves both plans to the next start when it is closed, which sends each once", async () => {
  const gate = new Gate();
  const { writer } = await createWriter(gate);
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
  const closed = writer.close(10_000);
  await gate.refuse("closed");
  await closed;
  expect([gate.offered, await plansIn(dir)]).toEqual([["c-1-1-marks"], ["1", "2"]]);

  const next = new Gate();
  const { writer: started, outbox } = await createWriter(next);
  const { position, plans, isDamaged } = await readOpenPlans(outbox, async () => 1);
  expect([position, plans.map(({ from, to }) => [from, to]), isDamaged]).toEqual([
    2,
    [
      [1, 1],
      [2, 2],
    ],
    false,
  ]);
  const sent = started.sendLeft(plans, async () => undefined);
  await next.take();
  await next.take();
  await sent;
  expect([next.taken, await readdir(dir)]).toEqual([["c-1-1-marks", "c-2-2-marks"], ["position"]]);
});

it("sends nothing any more when the time to close is over", async () => {
  const gate = new Gate();
  const { writer } = await createWriter(gate);
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
  await writer.close(1);
  await gate.take();
  await eventually(() => plansIn(dir)).toEqual(["2"]);
  await settle();
  expect(gate.offered).toEqual(["c-1-1-marks"]);
});

it("gathers what comes little by little until the plan ahead of it is stored, also if somebody waits for it", async () => {
  const gate = new Gate();
  const { writer } = await createWriter(gate);
  writer.add(batchAt(1, 10));
  await eventually(() => gate.offered).toHaveLength(1);
  writer.add(batchAt(2, 10));
  const stored = writer.storedUpTo(3);
  writer.add(batchAt(3, 10));
  await settle();
  expect(await plansIn(dir)).toEqual(["1"]);
  await gate.take();
  await gate.take();
  await stored;
  expect(gate.taken).toEqual(["c-1-1-marks", "c-2-3-marks"]);
});

it("makes no plan ahead for whose blocks there is no memory", async () => {
  const gate = new Gate("server");
  let share = 0.5;
  const { writer } = await createWriter(gate, { pendingBytesMax: 6000, pendingShare: () => share });
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await eventually(() => gate.offered).toHaveLength(1);
  await settle();
  expect(await plansIn(dir)).toEqual(["1"]);
  share = 1;
  // The writer looks again when something comes.
  writer.add(batchAt(3));
  await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
  for (let plan = 0; plan < 3; plan++) await gate.take();
  await writer.storedUpTo(3);
});

it("counts the rows of both plans, and the blocks that a server is sent but not those that the engine reads itself", async () => {
  for (const kind of ["embedded", "server"] as const) {
    const gate = new Gate(kind);
    const { writer, released } = await createWriter(gate, { tokenPrefix: kind }, fileBytes);
    writer.add(batchAt(1));
    writer.add(batchAt(2));
    await eventually(() => plansIn(dir)).toEqual(["1", "2"]);
    const blocks = kind === "embedded" ? 0 : 2 * fileBytes;
    await eventually(() => writer.pendingBytes).toBe(2 * (large + 256) + blocks);
    expect(released).toHaveLength(kind === "embedded" ? 2 : 0);
    expect(gate.lengths).toEqual([kind === "embedded" ? 0 : fileBytes]);
    await gate.take();
    await gate.take();
    await writer.storedUpTo(2);
    expect([writer.pendingBytes, released]).toEqual([0, [fileBytes, fileBytes]]);
  }
});

it("lets nobody see some of a plan's small tables without the others, and makes nobody wait for its facts", async () => {
  const gate = new Gate();
  const { writer } = await createWriter(gate, {}, 1, ["marks", "groups", "aliases"]);
  const look = () => writer.betweenPlans(async (stored) => ({ stored, offered: gate.offered.length }));
  writer.add(batchAt(1));
  await eventually(() => gate.offered).toEqual(["c-1-1-marks"]);
  // A disk that has no room for the facts may have none for long.
  expect(await look()).toEqual({ stored: 0, offered: 1 });
  const held = Promise.withResolvers<void>();
  const holding = writer.betweenPlans(() => held.promise);
  await gate.take();
  await settle();
  expect(gate.offered).toEqual(["c-1-1-marks"]);
  held.resolve();
  await holding;
  await eventually(() => gate.offered).toHaveLength(3);
  await gate.take();
  const seen = look();
  await settle();
  await gate.take();
  expect(await seen).toEqual({ stored: 1, offered: 3 });
});

it("asks what is stored in place of rows that cannot be only when everything before them is stored", async () => {
  const gate = new Gate();
  const outbox = await createOutbox(dir);
  const asked: number[] = [];
  const bad = 2;
  const writer = createPicky(outbox, gate, bad, (stored) => asked.push(stored));
  writer.add(batchAt(1));
  await eventually(() => gate.offered).toHaveLength(1);
  writer.add(batchAt(bad));
  await settle();
  expect(asked).toEqual([]);
  await gate.take();
  await gate.take();
  await writer.storedUpTo(bad);
  expect(asked).toEqual([1]);
});

/** Cannot make blocks of the record at `bad`. */
function createPicky(outbox: Outbox, gate: Gate, bad: number, onAsked: (stored: number) => void): StoreWriter {
  const writer: StoreWriter = new StoreWriter(
    outbox,
    gate,
    {
      async encode(batches) {
        if (batches.some(({ position, bytes }) => position === bad && bytes > 0)) throw new Error("no block");
        return [{ table: "marks", columns: [], rows: 1, bytes: new Uint8Array(1) }];
      },
      release: () => undefined,
    },
    {
      ...{ tokenPrefix: "c", lingerMs: 1, steadyLingerMs: 1 },
      ...{ planBytesEnough: large, planBytesMax: 1500, pendingBytesMax: 1_000_000, pendingShare: () => 1 },
      onStored: () => undefined,
      onTrouble: (cause) => expect.unreachable(String(cause)),
      onLateRetry: ({ token }) => expect.unreachable(token),
      async onUnstorable(batch) {
        onAsked(writer.stored);
        return { ...batch, bytes: 0 };
      },
      onStopped: (cause) => expect.unreachable(String(cause)),
    },
    0,
  );
  writer.open();
  return writer;
}
