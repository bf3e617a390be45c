// What the writing and the reading half of a journal share. Only the committer changes it.

import type { DiskOutageKind } from "#base/disk-outage.ts";
import type { Files } from "#base/files.ts";
import type { OpenedFolder, Segment } from "./segment.ts";

export class JournalCounters {
  /** Records acknowledged since the start. */
  appended = 0;
  /** Numbers that had no readable record when they were first read, and the damaged bytes around them. */
  corruptRecords = 0;
  corruptBytes = 0;
  /** Bytes behind the last whole record when the journal was opened: a write that its writer did not survive. */
  tornBytes: number;
  /** When the journal was opened its last file was gone, with nobody knows how many records. */
  isEndMissing: boolean;
  fsyncs = 0;
  lastFsyncMs = 0;
  /** Files given up after a failed write or sync. */
  abandonedSegments = 0;
  /** Appends that were rejected because the disk failed. */
  rejected = 0;
  /** Why the last group could not be written; null when it was. */
  outage: DiskOutageKind | null = null;
  /** Covered segments that could not be removed; they are tried again. */
  unlinkFailures = 0;

  constructor({ tornBytes, isEndMissing }: OpenedFolder) {
    this.tornBytes = tornBytes;
    this.isEndMissing = isEndMissing;
  }
}

export interface Shelf {
  readonly folder: string;
  readonly files: Files;
  /** Ascending by ordinal; never empty once something was written. */
  readonly segments: Segment[];
  /** The number of the next record; everything below it is durable. */
  nextPosition: number;
  readonly counters: JournalCounters;
}

export function diskBytesOf(shelf: Shelf): number {
  let bytes = 0;
  for (const segment of shelf.segments) bytes += segment.diskBytes;
  return bytes;
}
