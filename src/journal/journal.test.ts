import { readdir } from "node:fs/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createMemoryFiles } from "#base/memory-files.testing.ts";
import { makeFolder } from "../../tests/support/folder.ts";
import { createJournal, type Journal, type JournalOptions } from "./journal.ts";

let dir: string;
beforeEach(async () => {
  dir = makeFolder();
});

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (payload: Uint8Array | undefined) => payload && new TextDecoder().decode(payload);

async function replayed(journal: Journal, from = 1): Promise<[number, string][]> {
  const found: [number, string][] = [];
  for await (const { position, payload } of journal.replay(from)) found.push([position, text(payload) as string]);
  return found;
}

async function withJournal<T>(options: Omit<JournalOptions, "dir">, use: (journal: Journal) => Promise<T>): Promise<T> {
  const journal = await createJournal({ dir, ...options });
  try {
    return await use(journal);
  } finally {
    await journal.close();
  }
}

describe("appending", () => {
  it("numbers records from 1 and gives them back in order after a restart", async () => {
    await withJournal({}, async (journal) => {
      const positions = await Promise.all(["a", "b", "c"].map((word) => journal.append(bytes(word))));
      expect(positions).toEqual([1, 2, 3]);
    });
    await withJournal({}, async (journal) => {
      expect(await journal.append(bytes("d"))).toBe(4);
      expect(await replayed(journal)).toEqual([
        [1, "a"],
        [2, "b"],
        [3, "c"],
        [4, "d"],
      ]);
    });
  });

  it("joins the parts of a payload, large and small, and takes an empty one", async () => {
    const large = "x".repeat(40_000);
    await withJournal({}, async (journal) => {
      await journal.append([bytes("head "), bytes(large), bytes(" tail")]);
      await journal.append([]);
      expect(await replayed(journal)).toEqual([
        [1, `head ${large} tail`],
        [2, ""],
      ]);
    });
  });

  it("shares one sync among all appends that wait", async () => {
    await withJournal({}, async (journal) => {
      await Promise.all(Array.from({ length: 200 }, (_, n) => journal.append(bytes(String(n)))));
      expect(journal.state()).toMatchObject({ appended: 200, fsyncs: 1 });
    });
  });

  it("says that memory is full instead of growing, and takes a lone record of any size", async () => {
    await withJournal({ waitingBytesMax: 1000 }, async (journal) => {
      const first = journal.append(new Uint8Array(5000));
      expect(journal.append(bytes("more"))).toBe("memory_full");
      expect(await first).toBe(1);
      expect(await journal.append(bytes("more"))).toBe(2);
    });
  });

  it("keeps the last of its budget for small records", async () => {
    await withJournal({ segmentBytesMax: 1_000_000, budgetBytes: 2_000_000 }, async (journal) => {
      const large = new Uint8Array(100_000);
      let taken = 0;
      while (typeof journal.append(large) !== "string") taken++;
      expect(taken).toBe(17);
      expect([journal.roomFor(100_000, false), journal.roomFor(1000, true)]).toEqual(["disk_full", null]);
      expect(await journal.append(new Uint8Array(60_000))).toBe(18);
      let small = 0;
      while (typeof journal.append(new Uint8Array(60_000)) !== "string") small++;
      expect(small).toBe(3);
    });
  });

  it("says that the disk budget is spent, and takes more once segments were removed", async () => {
    await withJournal({ segmentBytesMax: 1000, budgetBytes: 2000 }, async (journal) => {
      let last = 0;
      for (;;) {
        const waiting = journal.append(new Uint8Array(200));
        if (typeof waiting === "string") {
          expect(waiting).toBe("disk_full");
          break;
        }
        last = await waiting;
      }
      expect(journal.state().bytes).toBeGreaterThan(1700);
      await journal.truncateBefore(last + 1);
      expect(journal.state().bytes).toBeLessThan(100);
      expect(await journal.append(new Uint8Array(200))).toBe(last + 1);
    });
  });

  it("rejects what comes after closing and settles what came before", async () => {
    const journal = await createJournal({ dir });
    const before = journal.append(bytes("in"));
    const closing = journal.close();
    await expect(journal.append(bytes("late"))).rejects.toMatchObject({ kind: "closed" });
    expect(await before).toBe(1);
    await closing;
  });
});

describe("segments", () => {
  const fill = async (journal: Journal, count: number) => {
    for (let n = 0; n < count; n++) await journal.append(bytes(`record ${n}`));
  };

  it("rotates at the size limit and replays across files from any number", async () => {
    await withJournal({ segmentBytesMax: 200 }, async (journal) => {
      await fill(journal, 20);
      expect((await readdir(dir)).filter((name) => name !== "newest")).toHaveLength(4);
      expect((await replayed(journal)).length).toBe(20);
      expect((await replayed(journal, 14))[0]).toEqual([14, "record 13"]);
    });
  });

  it("removes only whole segments, and numbers go on after all were removed and a restart", async () => {
    await withJournal({ segmentBytesMax: 200 }, async (journal) => {
      await fill(journal, 20);
      await journal.truncateBefore(10);
      expect((await replayed(journal))[0]).toEqual([6, "record 5"]);
      expect(await journal.read(3)).toBeUndefined();
      await journal.truncateBefore(21);
      expect(await replayed(journal)).toEqual([]);
    });
    await withJournal({}, async (journal) => {
      expect(await journal.append(bytes("next"))).toBe(21);
    });
  });

  it("starts at the number its reader asks for when the folder was lost", async () => {
    await withJournal({ positionMin: 1000 }, async (journal) => {
      expect(await journal.append(bytes("a"))).toBe(1000);
      expect(await replayed(journal)).toEqual([[1000, "a"]]);
      expect(journal.state().corruptRecords).toBe(0);
    });
  });

  it("reads any single record, also one behind the sparse index, and says so when there is none", async () => {
    await withJournal({ segmentBytesMax: 1_000_000 }, async (journal) => {
      const block = "y".repeat(3000);
      await Promise.all(Array.from({ length: 1000 }, (_, n) => journal.append(bytes(`${n} ${block}`))));
      for (const position of [1, 2, 333, 334, 500, 999, 1000]) {
        expect(text(await journal.read(position))).toBe(`${position - 1} ${block}`);
      }
      expect(await journal.read(1001)).toBeUndefined();
      expect(await journal.read(0)).toBeUndefined();
    });
  });

  it("replays while appends go on, and never shows a record before it is durable", async () => {
    await withJournal({ segmentBytesMax: 2000 }, async (journal) => {
      let acknowledged = 0;
      const writing = (async () => {
        for (let n = 0; n < 300; n++) acknowledged = (await journal.append(bytes(`record ${n}`))) as number;
      })();
      let next = 1;
      while (next <= 300) {
        for await (const { position, payload } of journal.replay(next)) {
          expect(position).toBe(next++);
          expect(text(payload)).toBe(`record ${position - 1}`);
        }
        expect(next).toBeLessThanOrEqual(acknowledged + 2);
        await new Promise(setImmediate);
      }
      await writing;
    });
  });
});

describe("damage", () => {
  const path = "/j";
  const written = async (count: number) => {
    const files = createMemoryFiles();
    const journal = await createJournal({ dir: path, files });
    for (let n = 0; n < count; n++) await journal.append(bytes(`payload number ${n}`));
    await journal.close();
    return files;
  };
  const change = (files: ReturnType<typeof createMemoryFiles>, edit: (bytes: Uint8Array) => Uint8Array) =>
    files.damage(files.paths()[0] as string, edit);
  const flip = (at: number) => (stored: Uint8Array) => stored.with(at, (stored[at] as number) ^ 0x55);
  // A record of "payload number n" has 24 + 16 bytes.
  const recordAt = (n: number) => 24 + n * 40;

  it("cuts a torn tail at every byte and goes on with the next number", async () => {
    for (let cut = recordAt(2) + 1; cut < recordAt(3); cut++) {
      const files = await written(3);
      change(files, (stored) => stored.slice(0, cut));
      const journal = await createJournal({ dir: path, files });
      expect(journal.state()).toMatchObject({ nextPosition: 3, tornBytes: cut - recordAt(2) });
      expect(await journal.append(bytes("again"))).toBe(3);
      expect((await replayed(journal)).map(([, word]) => word)).toEqual([
        "payload number 0",
        "payload number 1",
        "again",
      ]);
      expect(journal.state().corruptRecords).toBe(0);
      await journal.close();
    }
  });

  it("skips and counts one record for a flipped bit at every byte of it, and starts all the same", async () => {
    for (let at = recordAt(1); at < recordAt(2); at++) {
      const files = await written(4);
      change(files, flip(at));
      const journal = await createJournal({ dir: path, files });
      expect((await replayed(journal)).map(([position]) => position)).toEqual([1, 3, 4]);
      expect(await replayed(journal)).toHaveLength(3);
      expect(journal.state()).toMatchObject({ corruptRecords: 1, corruptBytes: 40, nextPosition: 5 });
      await journal.close();
    }
  });

  it("lives with a damaged segment header", async () => {
    for (let at = 0; at < 24; at++) {
      const files = await written(2);
      change(files, flip(at));
      const journal = await createJournal({ dir: path, files });
      expect(await replayed(journal)).toHaveLength(2);
      await journal.close();
    }
  });

  it("finds the next record after inserted junk, a deleted piece and a wall of marks", async () => {
    const junk = Buffer.from("JRECJREC".repeat(300_000));
    const edits: ((stored: Uint8Array) => Uint8Array)[] = [
      (stored) => Buffer.concat([stored.subarray(0, recordAt(1)), junk, stored.subarray(recordAt(1))]),
      (stored) => Buffer.concat([stored.subarray(0, recordAt(1) + 7), stored.subarray(recordAt(2))]),
    ];
    const expected = [
      [1, 2, 3, 4],
      [1, 3, 4],
    ];
    for (const [at, edit] of edits.entries()) {
      const files = await written(4);
      change(files, edit);
      const journal = await createJournal({ dir: path, files });
      expect((await replayed(journal)).map(([position]) => position)).toEqual(expected[at]);
      await journal.close();
    }
  });

  it("never takes the bytes of a record that came as a payload for a record", async () => {
    const inner = await written(3);
    let stolen = new Uint8Array();
    change(inner, (stored) => {
      stolen = stored.slice(24);
      return stored;
    });
    const files = createMemoryFiles();
    const journal = await createJournal({ dir: path, files });
    await journal.append(stolen);
    await journal.append(bytes("after"));
    await journal.close();
    change(files, flip(24));
    const again = await createJournal({ dir: path, files });
    expect(await replayed(again)).toEqual([[2, "after"]]);
    await again.close();
  });

  it("refuses a segment of another version instead of skipping all its records", async () => {
    const files = await written(1);
    const { crc32 } = await import("node:zlib");
    change(files, (stored) => {
      const changed = Buffer.from(stored);
      changed[7] = 0x32;
      changed.writeUInt32LE(crc32(changed.subarray(0, 20)), 20);
      return changed;
    });
    await expect(createJournal({ dir: path, files })).rejects.toMatchObject({ kind: "other_version" });
  });
});
