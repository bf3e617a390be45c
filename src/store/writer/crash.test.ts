// The writer and its outbox on a disk that forgets what was not synced: the process ends at any moment, with one plan on its
// way and another one made, and what it left is damaged here and there. However often that happens, the store ends with
// every row once.

import { expect, test } from "vitest";
import type { Files, OpenFile } from "#base/files.ts";
import { createMemoryFiles, type MemoryFiles } from "#base/memory-files.testing.ts";
import type { Batch } from "#model/batch.ts";
import { readOpenPlans } from "./open-plans.ts";
import { createOutbox } from "./outbox.ts";
import { StoreWriter } from "./writer.ts";

type Random = () => number;

const records = 40;
/** The first is sent before the second. */
const tables = ["cirron_ids", "marks"] as const;
/** So large that a block has a file of its own. */
const largeBytes = 260 * 1024;
/** The journal drops its records in files of so many. */
const segmentRecords = 8;

function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Counts rows, and knows its tokens. */
class Rows {
  private readonly tokens = new Set<string>();
  private readonly counts = new Map<string, number>();

  take(token: string, table: string, positions: readonly number[]): void {
    if (this.tokens.has(token)) return;
    this.tokens.add(token);
    for (const position of positions) {
      const row = `${table} ${position}`;
      this.counts.set(row, (this.counts.get(row) ?? 0) + 1);
    }
  }

  has(table: string, position: number): boolean {
    return this.counts.has(`${table} ${position}`);
  }

  /** How often each row is there, where that is not once. */
  get wrong(): unknown[] {
    const all = tables.flatMap((table) => Array.from({ length: records }, (_, at) => `${table} ${at + 1}`));
    return all.flatMap((row) => (this.counts.get(row) === 1 ? [] : [[row, this.counts.get(row) ?? 0]]));
  }
}

/** A process that ends at its n-th call of the disk or the store: from then on nothing is answered. */
class Life {
  private left: number;
  private readonly ended = Promise.withResolvers<"killed">();

  constructor(calls: number) {
    this.left = calls;
  }

  get end(): Promise<"killed"> {
    return this.ended.promise;
  }

  async call<T>(work: () => Promise<T>): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.left-- <= 0) {
      this.ended.resolve("killed");
      await new Promise(() => undefined);
    }
    return work();
  }

  filesOf(inner: Files): Files {
    const toFile = (file: OpenFile): OpenFile => ({
      write: (buffers, position) => this.call(() => file.write(buffers, position)),
      read: (into, position) => file.read(into, position),
      fdatasync: () => this.call(() => file.fdatasync()),
      size: () => file.size(),
      truncate: (bytes) => this.call(() => file.truncate(bytes)),
      close: () => file.close(),
    });
    return {
      ...inner,
      open: (path, mode) => this.call(async () => toFile(await inner.open(path, mode))),
      rename: (from, to) => this.call(() => inner.rename(from, to)),
      unlink: (path) => this.call(() => inner.unlink(path)),
      syncFolder: (folder) => this.call(() => inner.syncFolder(folder)),
    };
  }
}

interface World {
  disk: MemoryFiles;
  readonly rows: Rows;
  readonly random: Random;
  /** What the journal was told to be stored. */
  storedTo: number;
  starts: number;
  /** The most plans that lay in the outbox at an end. */
  plansMost: number;
}

/** How many positions, these, and what fills the block up. */
function toBytes(positions: readonly number[], size: number): Uint8Array {
  const words = new Uint32Array(Math.max(positions.length + 1, size / 4));
  words.set([positions.length, ...positions]);
  return new Uint8Array(words.buffer);
}

function toPositions(bytes: Uint8Array): number[] {
  const [count = 0, ...rest] = new Uint32Array(bytes.slice().buffer);
  return rest.slice(0, count);
}

/** One start, until the process ends or everything is stored. */
async function live(world: World, life: Life): Promise<"stored" | "killed"> {
  const { rows, random } = world;
  const outbox = await createOutbox("/outbox", life.filesOf(world.disk));
  const journalFirst = world.storedTo - (world.storedTo % segmentRecords) + 1;
  const left = await readOpenPlans(outbox, async () => journalFirst);
  // Nothing is to be skipped that the journal does not have any more.
  expect(left.position).toBeGreaterThanOrEqual(journalFirst - 1);
  /** Rows that intake finds in the store, and leaves out. It looks for half a record only where it is told to. */
  const known = new Set<string>();
  const writer = new StoreWriter(
    outbox,
    {
      kind: "embedded",
      insert: (table, block, { token, file }) =>
        life.call(async () => {
          // The next plan is made meanwhile.
          for (let left = Math.floor(random() * 10); left > 0; left--) await life.call(async () => undefined);
          const bytes = file === undefined ? block.bytes : await readWholeFile(world.disk, file);
          rows.take(token, table, toPositions(bytes));
          // The engine may have taken what the process never heard of.
          await life.call(async () => undefined);
        }),
    },
    {
      encode: async (batches) => {
        const positions = batches.flatMap(({ first, position }) => range(first, position));
        return tables.flatMap((table) => {
          const mine = positions.filter((position) => !known.has(`${table} ${position}`));
          const bytes = toBytes(mine, random() < 0.15 ? largeBytes : 64);
          return mine.length === 0 ? [] : [{ table, columns: [], rows: mine.length, bytes }];
        });
      },
      release: () => undefined,
    },
    {
      tokenPrefix: `start-${world.starts++}`,
      lingerMs: 0,
      steadyLingerMs: 0,
      planBytesEnough: 1000,
      planBytesMax: 2000,
      pendingBytesMax: 100 * 1024 * 1024,
      pendingShare: () => 1,
      onStored: (to) => {
        world.storedTo = to;
      },
      onTrouble: (cause) => expect.unreachable(String(cause)),
      onLateRetry: ({ token }) => expect.unreachable(token),
      onUnstorable: (_, cause) => expect.unreachable(String(cause)),
      onStopped: (cause) => expect.unreachable(String(cause)),
    },
    left.position,
  );
  await writer.sendLeft(left.plans, async () => undefined);
  for (const position of range(left.position + 1, records)) {
    const there = tables.filter((table) => rows.has(table, position));
    if (left.isDamaged || there.length === tables.length) for (const table of there) known.add(`${table} ${position}`);
  }
  writer.open();
  for (let first = left.position + 1; first <= records; ) {
    const position = Math.min(records, first + Math.floor(random() * 3));
    writer.add({ first, position, parts: [], state: [], bytes: 100 + Math.floor(random() * 900) } satisfies Batch);
    first = position + 1;
    if (random() < 0.3) await life.call(async () => undefined);
  }
  await writer.storedUpTo(records);
  return "stored";
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}

async function readWholeFile(files: Files, path: string): Promise<Uint8Array> {
  const file = await files.open(path, "read");
  const bytes = new Uint8Array(await file.size());
  await file.read(bytes, 0);
  return bytes;
}

/** A file of the outbox is cut, or a bit of it changes. */
function damageOne({ disk, random }: World): void {
  const paths = disk.paths().filter((path) => !path.endsWith(".tmp"));
  const path = paths[Math.floor(random() * paths.length)];
  if (path === undefined) return;
  if (random() < 0.5) disk.damage(path, (bytes) => bytes.slice(0, Math.floor(random() * bytes.length)));
  else
    disk.damage(path, (bytes) => {
      const flipped = bytes.slice();
      const at = Math.floor(random() * Math.min(bytes.length, 200));
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      return flipped;
    });
}

/** Kills, losses of power and damage until everything is stored; says how many plans were left at once. */
async function survive(seed: number): Promise<{ wrong: unknown[]; plansMost: number; starts: number }> {
  const random = createRandom(seed);
  const world: World = {
    disk: createMemoryFiles(),
    rows: new Rows(),
    random,
    storedTo: 0,
    starts: 0,
    plansMost: 0,
  };
  for (;;) {
    const life = new Life(world.starts < 12 ? Math.floor(random() * 60) : Number.POSITIVE_INFINITY);
    if ((await Promise.race([live(world, life), life.end])) === "stored") break;
    const plans = world.disk.paths().filter((path) => path.endsWith(".plan"));
    world.plansMost = Math.max(world.plansMost, plans.length);
    if (random() < 0.5) world.disk = world.disk.losePower(random);
    if (random() < 0.5) damageOne(world);
  }
  return { wrong: world.rows.wrong, plansMost: world.plansMost, starts: world.starts };
}

test("stores every row once, whenever the process ends and whatever of the outbox is damaged then", async () => {
  let hadTwoPlans = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const { wrong, plansMost } = await survive(seed);
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    if (plansMost >= 2) hadTwoPlans++;
  }
  // Else nothing was proved about a plan behind another one.
  expect(hadTwoPlans).toBeGreaterThan(30);
});
