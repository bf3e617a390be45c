// What the two halves of a journal share. Only the writing half, the committer, changes it.

import type { DiskOutageKind } from "#base/disk-outage.ts";
import type { Files } from "#base/files.ts";
import type { OpenedFolder, Segment } from "./segment.ts";

export class JournalCounters {
  appended = 0;
  /** Record numbers without a readable record, counted when first read, and the damaged bytes around them. */
  corruptRecords = 0;
  corruptBytes = 0;
  /** Bytes after the last whole record when the journal was opened: a write that its process did not survive. */
  tornBytes: number;
  /** The last file was gone when the journal was opened, with an unknown number of records. */
  isEndMissing: boolean;
  fsyncs = 0;
  lastFsyncMs = 0;
  /** Files given up after a failed write or sync. */
  abandonedSegments = 0;
  rejected = 0;
  /** Why the last group could not be written; null when it was. */
  outage: DiskOutageKind | null = null;
  /** Segments that are no longer needed and could not be removed; removing them is tried again. */
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
