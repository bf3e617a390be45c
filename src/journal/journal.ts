// The journal: raw input that was accepted and is not yet stored, in plain append-only segment files.
// An append resolves with the record's number once its bytes are on the disk; numbers start at 1, grow by one
// and are never given twice to acknowledged records. A rejected append may or may not be there after a restart.
// One process at a time may hold a folder; whoever creates the journal holds the lock.

import assert from "node:assert/strict";
import { join } from "node:path";
import { toOutage } from "#base/disk-outage.ts";
import { writeDurably } from "#base/durable-file.ts";
import { type Files, nodeFiles } from "#base/files.ts";
import { Committer } from "./commit.ts";
import { payloadBytesCeiling, recordHeaderBytes } from "./layout.ts";
import { type JournalRecord, readRecord, replayRecords } from "./read.ts";
import { openFolder } from "./segment.ts";
import { diskBytesOf, JournalCounters, type Shelf } from "./shelf.ts";

export interface JournalOptions {
  readonly dir: string;
  readonly files?: Files;
  /** A segment is closed before it grows beyond this; a single larger record still gets its own. */
  readonly segmentBytesMax?: number;
  /** What all segments may take on the disk; at least two segments' worth. */
  readonly budgetBytes?: number;
  /** How many bytes of appends may wait for the disk. */
  readonly waitingBytesMax?: number;
  readonly groupBytesMax?: number;
  /** The lowest number for the next record: one more than the last that is stored. */
  readonly positionMin?: number;
}

/** Why an append was refused: retry when the disk or the reader has caught up. */
export type JournalFull = "memory_full" | "disk_full";

export interface JournalState extends Readonly<JournalCounters> {
  /** On the disk. */
  readonly bytes: number;
  readonly budgetBytes: number;
  readonly waitingBytes: number;
  readonly isFull: boolean;
  readonly segments: number;
  /** Every record below `nextPosition` is durable; those below `firstPosition` were truncated away. */
  readonly firstPosition: number;
  readonly nextPosition: number;
}

export interface Journal {
  /** Why a record of this size would be refused; null if it would be taken. `isQuiet` may use the reserve. */
  roomFor(bytes: number, isQuiet: boolean): JournalFull | null;
  /** The parts form one payload and belong to the journal until the promise settles. Rejects with a DiskOutage. */
  append(parts: Uint8Array | readonly Uint8Array[]): Promise<number> | JournalFull;
  replay(from: number): AsyncIterable<JournalRecord>;
  read(position: number): Promise<Uint8Array | undefined>;
  /** Removes the segments whose records are all below a number. */
  truncateBefore(position: number): Promise<void>;
  state(): JournalState;
  /** After an outage: tries the disk, so that the outage can end without waiting for a client to send. */
  probe(): Promise<void>;
  /** Settles what waits, then closes the file. */
  close(): Promise<void>;
}

const mebibyte = 1024 * 1024;
/**
 * The last part of the budget is reserved for small records: those who send little still find room when others have
 * filled the rest.
 */
const reserveBytesMax = 128 * mebibyte;
const smallRecordBytes = mebibyte / 16;

export async function createJournal(options: JournalOptions): Promise<Journal> {
  const { dir, files = nodeFiles, positionMin = 1 } = options;
  const limits = {
    segmentBytesMax: options.segmentBytesMax ?? 64 * mebibyte,
    groupBytesMax: options.groupBytesMax ?? 8 * mebibyte,
    budgetBytes: options.budgetBytes ?? 8192 * mebibyte,
  };
  const waitingBytesMax = options.waitingBytesMax ?? 64 * mebibyte;
  assert(limits.budgetBytes >= 2 * limits.segmentBytesMax, "the journal's budget holds at least two segments");
  const opened = await openFolder(files, dir).catch((cause) => {
    throw toOutage("The journal's folder could not be opened.", cause);
  });
  // Records before `positionMin` were here once, so a journal that ends before it is an older copy.
  const isOld = opened.segments.length > 0 && opened.nextPosition < positionMin;
  const shelf: Shelf = {
    folder: dir,
    files,
    segments: opened.segments,
    nextPosition: Math.max(opened.nextPosition, positionMin),
    counters: new JournalCounters({ ...opened, isEndMissing: opened.isEndMissing || isOld }),
  };
  const committer = new Committer(shelf, limits);
  const reserveBytes = Math.min(limits.budgetBytes / 8, reserveBytesMax);
  const roomFor = (bytes: number, isQuiet: boolean): JournalFull | null => {
    // A record larger than the memory limit is taken when nothing else waits; otherwise it never could be.
    if (committer.waitingBytes > 0 && committer.waitingBytes + bytes > waitingBytesMax) return "memory_full";
    const budgetBytes = limits.budgetBytes - (isQuiet ? 0 : reserveBytes);
    return diskBytesOf(shelf) + committer.waitingBytes + bytes > budgetBytes ? "disk_full" : null;
  };
  return {
    append(given) {
      const parts = given instanceof Uint8Array ? [given] : given;
      let bytes = recordHeaderBytes;
      for (const part of parts) bytes += part.length;
      assert(bytes <= payloadBytesCeiling, "a journal record is below 2 GiB");
      return roomFor(bytes, bytes <= smallRecordBytes) ?? committer.push(parts, bytes);
    },
    roomFor,
    replay: (from) => replayRecords(shelf, from),
    read: (position) => readRecord(shelf, position),
    truncateBefore: (position) => committer.truncateBefore(position),
    state: () => ({
      ...shelf.counters,
      bytes: diskBytesOf(shelf),
      budgetBytes: limits.budgetBytes,
      waitingBytes: committer.waitingBytes,
      isFull: roomFor(0, false) === "disk_full",
      segments: shelf.segments.length,
      firstPosition: shelf.segments[0]?.first ?? shelf.nextPosition,
      nextPosition: shelf.nextPosition,
    }),
    probe: () => probeDisk(shelf),
    close: () => committer.close(),
  };
}

/** As large as a common request: a disk that takes only a few bytes has not recovered. */
const probeBytes = 64 * 1024;

async function probeDisk({ files, folder, counters }: Shelf): Promise<void> {
  if (counters.outage === null) return;
  const path = join(folder, "probe");
  try {
    await writeDurably(files, path, [new Uint8Array(probeBytes)]);
    counters.outage = null;
  } catch {
    // The outage continues and is reported already.
  }
  await files.unlink(path).catch(() => undefined);
}
