// A segment as the running journal knows it, and how a folder of segments is opened.

import { join } from "node:path";
import { DiskOutage } from "#base/disk-outage.ts";
import { readDurable, writeDurably } from "#base/durable-file.ts";
import { type Files, type OpenFile, readWhole } from "#base/files.ts";
import { firstPlace } from "#base/first-place.ts";
import {
  formatSegmentName,
  judgeSegmentHeader,
  parseSegmentName,
  recordHeaderBytes,
  type SegmentName,
  segmentHeaderBytes,
} from "./layout.ts";
import { type ScannedRecord, scanRecords } from "./scan.ts";

export interface Segment extends SegmentName {
  readonly path: string;
  /** Where the acknowledged part ends; nothing behind it is ever read. */
  goodBytes: number;
  /** What the file takes on the disk, with parts that failed. */
  diskBytes: number;
  /** Holes below this number were counted already. */
  checkedBelow: number;
  /** A sparse index, ascending: one known record for about every `indexEveryBytes`. */
  readonly index: { position: number; offset: number }[];
}

const indexEveryBytes = 64 * 1024;

export function createSegmentRecord(folder: string, name: SegmentName): Segment {
  const path = join(folder, formatSegmentName(name));
  const empty = { goodBytes: segmentHeaderBytes, diskBytes: segmentHeaderBytes, checkedBelow: name.first };
  return { ...name, ...empty, path, index: [] };
}

export function indexRecord(segment: Segment, position: number, offset: number): void {
  const last = segment.index.at(-1);
  if (last !== undefined && (last.position >= position || offset - last.offset < indexEveryBytes)) return;
  segment.index.push({ position, offset });
}

/** The nearest known place at or before a record. */
export function offsetBefore(segment: Segment, position: number): number {
  const { index } = segment;
  const next = firstPlace(0, index.length, (at) => (index[at] as { position: number }).position <= position);
  return index[next - 1]?.offset ?? segmentHeaderBytes;
}

export interface OpenedFolder {
  readonly segments: Segment[];
  /** One more than the last record found. */
  readonly nextPosition: number;
  readonly tornBytes: number;
  /** A later segment with acknowledged records existed, and its file is gone. */
  readonly isEndMissing: boolean;
}

/**
 * The name of a small file beside the segments. It holds the first record number of the newest segment with an
 * acknowledged record, which tells a journal whose last file was removed from one that ends there.
 */
const newestName = "newest";

/** A failure is ignored: if the disk is broken, the appends fail as well. */
export async function noteNewest(files: Files, folder: string, segment: Segment): Promise<void> {
  const text = new TextEncoder().encode(String(segment.first));
  await writeDurably(files, join(folder, newestName), [text]).catch(() => undefined);
}

async function readNewest(files: Files, folder: string): Promise<number> {
  const bytes = await readDurable(files, join(folder, newestName));
  return bytes === undefined ? 0 : Number(new TextDecoder().decode(bytes));
}

/** The first record of the oldest existing segment; 1 if there is none. */
export async function readFirstPosition(files: Files, folder: string): Promise<number> {
  await files.makeFolder(folder);
  const firsts = (await files.list(folder)).flatMap((name) => parseSegmentName(name)?.first ?? []);
  return firsts.sort((a, b) => a - b)[0] ?? 1;
}

/** Reads only the last segment; the names of the others say what they hold. */
export async function openFolder(files: Files, folder: string): Promise<OpenedFolder> {
  await files.makeFolder(folder);
  const names = (await files.list(folder)).map(parseSegmentName).filter((name) => name !== undefined);
  names.sort((a, b) => a.ordinal - b.ordinal);
  const segments: Segment[] = [];
  const isEndMissing = (await readNewest(files, folder)) > (names.at(-1)?.first ?? 0);
  for (const name of names) {
    const segment = createSegmentRecord(folder, name);
    const file = await files.open(segment.path, "update");
    try {
      segment.diskBytes = await file.size();
      segment.goodBytes = segment.diskBytes;
      await refuseOtherVersion(file, segment);
      if (name === names.at(-1))
        return { segments, isEndMissing, ...(await readTail(files, folder, segment, file, segments)) };
      segments.push(segment);
    } finally {
      await file.close();
    }
  }
  return { segments, isEndMissing, nextPosition: 1, tornBytes: 0 };
}

// The last process may have died between write and sync. What it wrote can be read now, but a loss of power could still
// take it. So it is synced before anybody is told about it or numbers continue after it.
async function readTail(files: Files, folder: string, segment: Segment, file: OpenFile, segments: Segment[]) {
  await file.fdatasync();
  await files.syncFolder(folder);
  let nextPosition = segment.first;
  let goodBytes = Math.min(segmentHeaderBytes, segment.diskBytes);
  const range = { salt: segment.salt, endOffset: segment.diskBytes, endPosition: Number.MAX_SAFE_INTEGER };
  for await (const records of scanRecords(file, range)) {
    for (const record of records) indexRecord(segment, record.position, record.offset);
    const last = records.at(-1) as ScannedRecord;
    nextPosition = last.position + 1;
    goodBytes = last.offset + recordHeaderBytes + last.payload.length;
  }
  segment.goodBytes = goodBytes;
  segments.push(segment);
  return { nextPosition, tornBytes: segment.diskBytes - goodBytes };
}

// A damaged header costs nothing, since the file name says the same. Records of a newer version would all look damaged
// and be skipped, so that version is refused.
async function refuseOtherVersion(file: OpenFile, segment: Segment): Promise<void> {
  const header = new Uint8Array(segmentHeaderBytes);
  const count = await readWhole(file, header, 0);
  if (judgeSegmentHeader(header.subarray(0, count), segment) !== "other_version") return;
  throw new DiskOutage("other_version", `${segment.path} was written by another version of Tributary.`);
}
