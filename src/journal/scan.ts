// Reads the records of one segment, chunk by chunk. Damage never ends a scan: after a damaged record the next
// mark whose header holds is taken. Skipped bytes are reported, so that the caller can tell a torn tail (nothing
// valid follows) from a hole (something does).

import { type OpenFile, readWhole } from "#base/files.ts";
import { decodeRecordHeader, payloadCrcOf, recordHeaderBytes, recordMark, segmentHeaderBytes } from "./layout.ts";

export interface ScannedRecord {
  readonly position: number;
  /** Where the record's header starts in its file. */
  readonly offset: number;
  /** A view of a chunk that other records share: copy it to keep it for long. */
  readonly payload: Uint8Array;
  /** Damaged bytes between the record before and this one. */
  readonly skippedBytes: number;
}

export interface ScanRange {
  readonly salt: number;
  /** Where to start; the start of the records or of a known record. */
  readonly offset?: number;
  /** Where the known-good part of the file ends. */
  readonly endOffset: number;
  /** Records with a number at or above this one belong to the next segment. */
  readonly endPosition: number;
  readonly chunkBytes?: number;
}

/** Yields the records of each chunk together, since a promise for each record would cost more than reading it. */
export async function* scanRecords(file: OpenFile, range: ScanRange): AsyncGenerator<ScannedRecord[]> {
  const window = createWindow(file, range);
  let lastPosition = -1;
  let skippedBytes = 0;
  let found: ScannedRecord[] = [];
  while (await window.has(recordHeaderBytes)) {
    const header = decodeRecordHeader(window.bytes, window.at, range.salt);
    const size = recordHeaderBytes + (header?.length ?? 0);
    if (header === undefined || header.position <= lastPosition || size > range.endOffset - window.offset()) {
      skippedBytes += window.seekMark();
      continue;
    }
    if (header.position >= range.endPosition) break;
    if (!window.holds(size) && found.length > 0) {
      yield found;
      found = [];
    }
    // The file may be shorter than it was; then this record is torn and nothing follows it.
    if (!(await window.has(size))) break;
    const payload = window.bytes.subarray(window.at + recordHeaderBytes, window.at + size);
    lastPosition = header.position;
    if (payloadCrcOf([payload], range.salt) === header.payloadCrc) {
      found.push({ position: header.position, offset: window.offset(), payload, skippedBytes });
      skippedBytes = 0;
      window.at += size;
    }
    // The length of a damaged payload may be wrong too, because bytes can be missing from it. So the next record is
    // looked for inside it: stepping over it could step into the record that follows.
    else skippedBytes += window.seekMark();
  }
  if (found.length > 0) yield found;
}

// A part of the file in memory. A new chunk is allocated whenever it moves on, never reused: the records
// that were handed out are views of the old one.
function createWindow(file: OpenFile, range: ScanRange) {
  const chunkBytes = range.chunkBytes ?? 1024 * 1024;
  let start = range.offset ?? segmentHeaderBytes;
  const window = {
    bytes: Buffer.alloc(0),
    at: 0,
    offset: () => start + window.at,
    holds: (count: number) => window.bytes.length - window.at >= count,
    /** Makes the next `count` bytes readable at `at`, or says that the file has fewer. */
    async has(count: number): Promise<boolean> {
      if (window.holds(count)) return true;
      if (window.offset() + count > range.endOffset) return false;
      const left = window.bytes.subarray(window.at);
      const chunk = Buffer.allocUnsafeSlow(Math.min(Math.max(chunkBytes, count), range.endOffset - window.offset()));
      chunk.set(left);
      start = window.offset();
      const read = await readWhole(file, chunk.subarray(left.length), start + left.length);
      window.bytes = chunk.subarray(0, left.length + read);
      window.at = 0;
      return window.holds(count);
    },
    /** Moves to the next place that may be a record and says how many bytes that skipped. */
    seekMark(): number {
      const found = window.bytes.indexOf(recordMark, window.at + 1);
      // A mark may be cut by the end of the chunk, so its last bytes are looked at again with the next one.
      const next = found >= 0 ? found : Math.max(window.at + 1, window.bytes.length - recordMark.length + 1);
      const skipped = next - window.at;
      window.at = next;
      return skipped;
    },
  };
  return window;
}
