// The fault loop: the n-th file operation fails, for every n and each kind of failure; then the power may go.
// Whatever happens, an acknowledged record is there exactly once, at its number, in order.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDurable, writeDurably } from "#base/durable-file.ts";
import { createFaultyFiles, faultKinds } from "#base/faulty-files.testing.ts";
import type { Files } from "#base/files.ts";
import { createMemoryFiles, type MemoryFiles } from "#base/memory-files.testing.ts";
import { createJournal, type Journal } from "./journal.ts";

const dir = "/j";
const options = { dir, segmentBytesMax: 300, budgetBytes: 100_000 };

interface Outcome {
  readonly acknowledged: Map<number, string>;
  readonly attempted: Set<string>;
  truncatedBelow: number;
}

const createOutcome = (): Outcome => ({ acknowledged: new Map(), attempted: new Set(), truncatedBelow: 0 });

async function append(journal: Journal, outcome: Outcome, word: string): Promise<void> {
  outcome.attempted.add(word);
  const waiting = journal.append([Buffer.from(word), Buffer.from("!")]);
  if (typeof waiting === "string") return;
  const position = await waiting.catch(() => undefined);
  if (position === undefined) return;
  expect(outcome.acknowledged.has(position)).toBe(false);
  outcome.acknowledged.set(position, word);
}

/** One life of a process: it opens, appends alone and together, reads, truncates and closes, and survives any failure. */
async function live(files: Files, outcome: Outcome, life: string): Promise<void> {
  const journal = await createJournal({ ...options, files }).catch(() => undefined);
  if (journal === undefined) return;
  await append(journal, outcome, `${life} first`);
  await Promise.all(Array.from({ length: 5 }, (_, n) => append(journal, outcome, `${life} together ${n}`)));
  await expectAll(journal, outcome).catch((error) => {
    if (error?.kind !== "disk_failed" && error?.kind !== "disk_full") throw error;
  });
  const covered = [...outcome.acknowledged.keys()][1] ?? 0;
  outcome.truncatedBelow = Math.max(outcome.truncatedBelow, covered);
  await journal.truncateBefore(covered);
  for (let n = 0; n < 4; n++) await append(journal, outcome, `${life} later ${n}`);
  await journal.close();
}

async function expectAll(journal: Journal, outcome: Outcome): Promise<void> {
  const found = new Map<number, string>();
  let last = 0;
  for await (const { position, payload } of journal.replay(Math.max(1, outcome.truncatedBelow))) {
    const word = Buffer.from(payload).toString().slice(0, -1);
    if (position <= last) expect(position).toBeGreaterThan(last);
    if (!outcome.attempted.has(word)) expect(outcome.attempted).toContain(word);
    found.set(position, word);
    last = position;
  }
  expect(new Set(found.values()).size).toBe(found.size);
  for (const [position, word] of outcome.acknowledged) {
    if (position >= outcome.truncatedBelow && found.get(position) !== word) expect(found.get(position)).toBe(word);
  }
}

function seeded(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

async function reopen(files: MemoryFiles, outcome: Outcome): Promise<void> {
  const journal = await createJournal({ ...options, files });
  await expectAll(journal, outcome);
  await append(journal, outcome, "after all");
  await expectAll(journal, outcome);
  await journal.close();
}

describe.each(faultKinds)("when a file operation fails with %s", (kind) => {
  it("gives no false success, whichever operation it is", async () => {
    for (let failAt = 1; ; failAt++) {
      const disk = createMemoryFiles();
      const outcome = createOutcome();
      await live(disk, outcome, "earlier");
      const faulty = createFaultyFiles(disk, failAt, kind);
      await live(faulty, outcome, "failing");
      for (let seed = 0; seed < 4; seed++) {
        await reopen(disk.losePower(seeded(failAt * 31 + seed)), {
          ...outcome,
          acknowledged: new Map(outcome.acknowledged),
          attempted: new Set(outcome.attempted),
        });
      }
      await reopen(disk, outcome);
      if (faulty.count() < failAt) break;
      expect(failAt).toBeLessThan(400);
    }
  });

  it("keeps the old or the new bytes of a durable file, and the new ones once it said so", async () => {
    for (let failAt = 1; ; failAt++) {
      const disk = createMemoryFiles();
      await writeDurably(disk, "/j/cursor", [Buffer.from("old")]);
      const faulty = createFaultyFiles(disk, failAt, kind);
      const isWritten = await writeDurably(faulty, "/j/cursor", [Buffer.from("new")]).then(
        () => true,
        () => false,
      );
      for (let seed = 0; seed < 8; seed++) {
        const bytes = await readDurable(disk.losePower(seeded(failAt * 31 + seed)), "/j/cursor");
        const word = Buffer.from(bytes ?? []).toString();
        if (isWritten) expect(word).toBe("new");
        else expect(["old", "new"]).toContain(word);
      }
      if (faulty.count() < failAt) break;
    }
  });
});

describe("losing power", () => {
  it("keeps every acknowledged record through any sequence of lives, faults and losses", async () => {
    const life = fc.record({
      failAt: fc.integer({ min: 1, max: 60 }),
      kind: fc.constantFrom(...faultKinds),
      isPowerLost: fc.boolean(),
      seed: fc.nat(1_000_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 6 }), async (lives) => {
        let disk = createMemoryFiles();
        const outcome = createOutcome();
        for (const [n, { failAt, kind, isPowerLost, seed }] of lives.entries()) {
          await live(createFaultyFiles(disk, failAt, kind), outcome, `life ${n}`);
          if (isPowerLost) disk = disk.losePower(seeded(seed));
        }
        await reopen(disk, outcome);
      }),
      { numRuns: 150 },
    );
  });

  it("syncs what a killed writer left behind before it shows it to anyone", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const disk = createMemoryFiles();
      const unsynced: Files = {
        ...disk,
        open: async (path, mode) => ({ ...(await disk.open(path, mode)), fdatasync: async () => undefined }),
      };
      await (await createJournal({ dir, files: unsynced })).append(Buffer.from("left behind"));
      const next = await createJournal({ dir, files: disk });
      expect(next.state().nextPosition).toBe(2);
      const later = await createJournal({ dir, files: disk.losePower(seeded(seed)) });
      expect(Buffer.from((await later.read(1)) ?? []).toString()).toBe("left behind");
    }
  });

  it("goes on in a fresh file after a failed sync and never syncs the failed one again", async () => {
    const disk = createMemoryFiles();
    const synced: string[] = [];
    let isFailing = false;
    const files: Files = {
      ...disk,
      async open(path, mode) {
        const file = await disk.open(path, mode);
        return {
          ...file,
          async fdatasync() {
            if (path.includes("newest")) return;
            synced.push(path);
            if (isFailing) {
              isFailing = false;
              throw Object.assign(new Error("EIO"), { code: "EIO" });
            }
            await file.fdatasync();
          },
        };
      },
    };
    const journal = await createJournal({ dir, files });
    await journal.append(Buffer.from("one"));
    isFailing = true;
    expect(await journal.append(Buffer.from("two"))).toBe(2);
    expect(journal.state()).toMatchObject({ abandonedSegments: 1, rejected: 0 });
    expect(synced.length).toBe(3);
    expect(synced[1]).toBe(synced[0]);
    expect(synced[2]).not.toBe(synced[0]);
    await journal.close();
  });
});

it("tells of a full disk until there is room again, also when nobody sends anything", async () => {
  const disk = createMemoryFiles();
  let isFull = false;
  const files: Files = {
    ...disk,
    async open(path, mode) {
      if (isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return await disk.open(path, mode);
    },
    async syncFolder(folder) {
      if (isFull) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      await disk.syncFolder(folder);
    },
  };
  const journal = await createJournal({ ...options, files });
  isFull = true;
  await expect(journal.append(new Uint8Array(10))).rejects.toMatchObject({ kind: "disk_full" });
  await journal.probe();
  expect(journal.state().outage).toBe("disk_full");
  isFull = false;
  await journal.probe();
  expect(journal.state().outage).toBe(null);
  expect(disk.paths().filter((path) => path.includes("probe"))).toEqual([]);
  expect(await journal.append(new Uint8Array(10))).toBe(1);
  await journal.close();
});
