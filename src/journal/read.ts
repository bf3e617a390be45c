// Reading while others append: every read is bounded by what was durable when it began.

import { toOutage } from "#base/disk-outage.ts";
import { type ScannedRecord, scanRecords } from "./scan.ts";
import { indexRecord, offsetBefore, type Segment } from "./segment.ts";
import type { Shelf } from "./shelf.ts";

export interface JournalRecord {
  readonly position: number;
  /** A view of a chunk that other records share: copy it to keep it for long. */
  readonly payload: Uint8Array;
}

/** All durable records from a number on, in order; ends when it has caught up with the writer. */
export async function* replayRecords(shelf: Shelf, from: number): AsyncGenerator<JournalRecord> {
  let next = from;
  while (next < shelf.nextPosition) {
    const place = findSegment(shelf, next);
    if (place === undefined) return;
    next = Math.max(next, place.segment.first);
    for await (const records of scanPlace(shelf, place, next)) {
      for (const record of records) {
        if (record.position < next) continue;
        countHole(shelf, place.segment, next, record.position, record.skippedBytes);
        next = record.position + 1;
        yield record;
      }
    }
    countHole(shelf, place.segment, next, place.endPosition, 0);
    next = Math.max(next, place.endPosition);
  }
}

/** The payload of one record, owned by the caller; undefined if it was truncated away, is damaged or not there yet. */
export async function readRecord(shelf: Shelf, position: number): Promise<Uint8Array | undefined> {
  const place = findSegment(shelf, position);
  if (place === undefined || position < place.segment.first || position >= place.endPosition) return undefined;
  for await (const records of scanPlace(shelf, place, position)) {
    const found = records.find((record) => record.position >= position);
    if (found !== undefined) return found.position === position ? new Uint8Array(found.payload) : undefined;
  }
  return undefined;
}

interface SegmentPlace {
  readonly segment: Segment;
  readonly endOffset: number;
  readonly endPosition: number;
}

// The last segment that begins at or before a number holds it; below the first one the first is next.
function findSegment(shelf: Shelf, position: number): SegmentPlace | undefined {
  const { segments } = shelf;
  let at = segments.length - 1;
  while (at > 0 && (segments[at] as Segment).first > position) at--;
  const segment = segments[at];
  if (segment === undefined) return undefined;
  return { segment, endOffset: segment.goodBytes, endPosition: segments[at + 1]?.first ?? shelf.nextPosition };
}

async function* scanPlace(shelf: Shelf, place: SegmentPlace, from: number): AsyncGenerator<ScannedRecord[]> {
  const { segment, endOffset, endPosition } = place;
  const range = { salt: segment.salt, offset: offsetBefore(segment, from), endOffset, endPosition };
  try {
    const file = await shelf.files.open(segment.path, "read");
    try {
      for await (const records of scanRecords(file, range)) {
        const first = records[0] as ScannedRecord;
        indexRecord(segment, first.position, first.offset);
        yield records;
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    // The segment may have been truncated away after it was found.
    if (!shelf.segments.includes(segment)) return;
    throw toOutage("The journal could not be read.", cause);
  }
}

// A hole is counted only when it is first read over.
function countHole(shelf: Shelf, segment: Segment, expected: number, found: number, skippedBytes: number): void {
  if (found <= segment.checkedBelow) return;
  shelf.counters.corruptRecords += Math.max(0, found - Math.max(expected, segment.checkedBelow));
  shelf.counters.corruptBytes += skippedBytes;
  segment.checkedBelow = found;
}
