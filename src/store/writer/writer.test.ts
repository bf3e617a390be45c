import { expect, it, onTestFinished, vi } from "vitest";
import type { Batch } from "#model/batch.ts";
import { StoreOutage } from "#store/outage.ts";
import type { Outbox } from "./outbox.ts";
import { type BlockStore, sendPlan } from "./send-plan.ts";
import { StoreWriter, type WriterOptions } from "./writer.ts";

const batchAt = (position: number): Batch => ({ first: position, position, parts: [], state: [], bytes: 100 });

/** Plans that are never large enough. */
const large = { planBytesEnough: 10_000, planBytesMax: 10_000, pendingBytesMax: 100_000 };

/** A store and a disk that fail as often as they are told to, before they do what they should. */
function createTroubled(
  failures: { insert?: number; save?: number; finish?: number; isPassing: boolean },
  options: Partial<WriterOptions> = {},
  gate: Promise<void> = Promise.resolve(),
) {
  const left = { insert: 0, save: 0, finish: 0, ...failures };
  const inserted: string[] = [];
  const troubles: string[] = [];
  const released: string[] = [];
  const failing = (what: "insert" | "save" | "finish") => {
    if (left[what]-- > 0) throw new StoreOutage(failures.isPassing ? "overloaded" : "refused", what);
  };
  const outbox: Outbox = {
    save: async () => failing("save"),
    pathOf: (to, name) => `${to}.${name}`,
    finish: async () => failing("finish"),
    discard: async () => undefined,
    spoil: async () => undefined,
    open: async () => [],
    position: async () => 0,
  };
  const writer = new StoreWriter(
    outbox,
    {
      kind: "embedded",
      async insert(_table, _block, { token }) {
        failing("insert");
        await gate;
        inserted.push(token);
      },
    },
    {
      encode: async () => [{ table: "marks", columns: [], rows: 1, bytes: new Uint8Array(1) }],
      release: (block) => released.push((block as { token?: string }).token ?? ""),
    },
    {
      tokenPrefix: "c",
      lingerMs: 1,
      steadyLingerMs: 1,
      planBytesEnough: 150,
      planBytesMax: 150,
      pendingBytesMax: 1000,
      pendingShare: () => 1,
      refusedRetryMs: 5,
      onStored: () => undefined,
      onTrouble: (error) => troubles.push((error as Error).message),
      onLateRetry: ({ token }) => expect.unreachable(token),
      onUnstorable: (_, cause) => expect.unreachable(String(cause)),
      onStopped: (cause) => expect.unreachable(String(cause)),
      ...options,
    },
    0,
  );
  writer.open();
  return { writer, inserted, troubles, released };
}

it("offers a block that the store refuses again, in its order, and says meanwhile that it is refused", async () => {
  const { writer, inserted, troubles, released } = createTroubled({ insert: 2, isPassing: false });
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await expect.poll(() => writer.trouble).toBeInstanceOf(Error);
  await writer.storedUpTo(2);
  expect(inserted).toEqual(["c-1-1-marks", "c-2-2-marks"]);
  expect(troubles).toEqual(["insert", "insert"]);
  // The bytes of the first may still be on their way to a connection that failed.
  expect(released).toEqual(["c-2-2-marks"]);
  expect(writer.trouble).toBe(null);
});

it("tells of a block that is sent again when its token may be forgotten, before it is, and until that is heard", async () => {
  const told: string[] = [];
  const onLateRetry = async ({ token }: { token: string }): Promise<void> => {
    told.push(`${token} before ${inserted.length}`);
    if (told.length === 1) throw new StoreOutage("engine_down", "still away");
  };
  const { writer, inserted, troubles } = createTroubled(
    { insert: 2, isPassing: true },
    { tokensLastMs: 0, onLateRetry },
  );
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await writer.storedUpTo(2);
  expect(inserted).toEqual(["c-1-1-marks", "c-2-2-marks"]);
  // Heard at the second telling; the block that the store took at once is not told of.
  expect(told).toEqual(["c-1-1-marks before 0", "c-1-1-marks before 0"]);
  expect(troubles).toEqual(["insert", "still away", "insert"]);
});

it("goes on when the disk that failed it takes a plan or its end again", async () => {
  const { writer, inserted, troubles } = createTroubled({ save: 1, finish: 1, isPassing: true });
  writer.add(batchAt(1));
  await writer.storedUpTo(1);
  expect(inserted).toEqual(["c-1-1-marks"]);
  expect(troubles).toEqual(["save", "finish"]);
});

it("takes batches in the order of the journal only", async () => {
  const { writer } = createTroubled({ isPassing: true });
  writer.add(batchAt(2));
  expect(() => writer.add(batchAt(2))).toThrow("in the order of the journal");
  await writer.storedUpTo(2);
  expect(() => writer.add(batchAt(1))).toThrow("in the order of the journal");
});

it("does not wait for rows that, coming as they do, would be too late for the plan", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { writer, inserted } = createTroubled({ isPassing: true }, { steadyLingerMs: 600, ...large });
  const stored: number[] = [];
  // One every 400 ms. When a plan has two, one that waited for the next would be 800 ms old.
  for (let position = 1; position <= 12; position++) {
    writer.add(batchAt(position));
    await vi.advanceTimersByTimeAsync(50);
    stored.push(writer.stored);
    await vi.advanceTimersByTimeAsync(350);
  }
  expect(inserted.slice(-3)).toEqual(["c-6-7-marks", "c-8-9-marks", "c-10-11-marks"]);
  expect(stored.slice(-4)).toEqual([9, 9, 11, 11]);
});

it("sends the first rows after a silence soon, and gathers those that keep coming until somebody waits for them", async () => {
  const { writer, inserted } = createTroubled({ isPassing: true }, { steadyLingerMs: 60_000, ...large });
  writer.add(batchAt(1));
  await expect.poll(() => writer.stored).toBe(1);
  writer.add(batchAt(2));
  await new Promise((resolve) => setImmediate(resolve));
  writer.add(batchAt(3));
  await writer.storedUpTo(3);
  expect(inserted).toEqual(["c-1-1-marks", "c-2-3-marks"]);
});

it("makes no plan any more when the time to close is over: the next start makes it", async () => {
  const gate = Promise.withResolvers<void>();
  const { writer, inserted } = createTroubled({ isPassing: true }, {}, gate.promise);
  writer.add(batchAt(1));
  writer.add(batchAt(2));
  await writer.close(1);
  gate.resolve();
  // Until the plan under way has ended.
  await writer.close(10_000);
  expect(inserted).toEqual(["c-1-1-marks"]);
});

it("sends first by what rows are found again, then the facts side by side, and what maps them to runs when they are there", async () => {
  const log: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const store: BlockStore = {
    kind: "embedded",
    async insert(table) {
      log.push(`${table} begins`);
      const gate = Promise.withResolvers<void>();
      gates.set(table, gate);
      await gate.promise;
      log.push(`${table} ends`);
    },
  };
  const tables = ["writers", "batch_places", "spans", "marks", "cirron_ids", "groups", "aliases"] as const;
  const bytes = new Uint8Array(1);
  const blocks = tables.map((table) => ({ table, columns: [], rows: 1, bytes, token: table, file: null }));
  const options = {
    onTrouble: () => undefined,
    onLateRetry: async () => undefined,
    beforeRetry: async () => undefined,
  };
  const sent = sendPlan({ ...options, store }, blocks);
  const first = ["writers", "batch_places", "cirron_ids"];
  for (const names of [first, ["spans", "marks"], ["groups", "aliases"]]) {
    await expect.poll(() => names.every((name) => gates.has(name))).toBe(true);
    log.push("-");
    for (const name of names) gates.get(name)?.resolve();
  }
  expect(await sent).toBe(0);
  expect(log.join()).toBe(
    [
      ...[...first.map((name) => `${name} begins`), "-", ...first.map((name) => `${name} ends`)],
      ...["spans begins", "marks begins", "-", "spans ends", "marks ends"],
      ...["groups begins", "aliases begins", "-", "groups ends", "aliases ends"],
    ].join(),
  );
});

it("sends the blocks of a table side by side, but those of metrics in their order", async () => {
  const offered: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const insert: BlockStore["insert"] = (_table, _block, { token }) => {
    offered.push(token);
    const gate = Promise.withResolvers<void>();
    gates.set(token, gate);
    return gate.promise;
  };
  const toBlock = (table: "metrics" | "nodes", part: number) => ({
    ...{ table, part, columns: [], rows: 1, bytes: new Uint8Array(1) },
    ...{ token: `${table} ${part}`, file: null },
  });
  const blocks = [toBlock("metrics", 0), toBlock("metrics", 1), toBlock("nodes", 0), toBlock("nodes", 1)];
  const hooks = {
    onTrouble: () => undefined,
    onLateRetry: async () => undefined,
    beforeRetry: async () => undefined,
  };
  const sent = sendPlan({ ...hooks, store: { kind: "embedded", insert } }, blocks);
  await expect.poll(() => offered).toEqual(["metrics 0", "nodes 0", "nodes 1"]);
  gates.get("nodes 0")?.resolve();
  gates.get("nodes 1")?.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(offered).toHaveLength(3);
  gates.get("metrics 0")?.resolve();
  await expect.poll(() => offered.at(-1)).toBe("metrics 1");
  gates.get("metrics 1")?.resolve();
  expect(await sent).toBe(0);
});

it("counts the blocks of the plan that it sends beside the rows that it holds", async () => {
  const gate = Promise.withResolvers<void>();
  const { writer } = createTroubled({ isPassing: true }, {}, gate.promise);
  writer.add(batchAt(1));
  expect(writer.pendingBytes).toBe(100 + 256);
  await vi.waitFor(() => expect(writer.pendingBytes).toBe(100 + 256 + 1));
  gate.resolve();
  await writer.storedUpTo(1);
  expect(writer.pendingBytes).toBe(0);
});

it("has room for half as much while the memory of the process is tight", async () => {
  let share = 1;
  const { writer } = createTroubled({ isPassing: true }, { pendingShare: () => share });
  writer.add({ ...batchAt(1), bytes: 400 });
  expect(writer.hasRoom()).toBe(true);
  share = 0.5;
  expect(writer.hasRoom()).toBe(false);
  await writer.storedUpTo(1);
  expect(writer.hasRoom()).toBe(true);
});
