// The body of an XTrack journal record: what a stream delivered between two moments, cut so that it can be decoded
// on its own. Frames are as they came. Bytes without a frame are replaced by a note, so that reading the record again
// never has to search, nor depends on the record before or after it.
//
//   frame  u32 length (at most 0x08ffffff) · payload
//   note   u32 0xffffffff · u32 length of the head · head, JSON · u32 length of the bytes kept · bytes
//
// All lengths are big-endian. A note's head says for how many bytes of the stream it stands, so that the stream offset
// of every frame follows from the offset of the record. A record may hold what several streams delivered: before the
// frames of another stream, a note says where they begin in that stream and to which run they belong.

import { atOnce } from "#base/turns.ts";
import type { FaultCode } from "#model/fault.ts";
import { prefixBytes, readLength } from "./resync.ts";

const noteMark = 0xffffffff;
const noBytes = new Uint8Array(0);

export interface Note {
  /** Undefined for bytes that are no fault and must not be kept: an API key, text that went elsewhere. */
  readonly code?: FaultCode | undefined;
  readonly detail?: string | undefined;
  /** How many bytes of the stream this note stands for. */
  readonly length: number;
  readonly raw: Uint8Array;
  /** What follows comes from another stream. */
  readonly from?: StreamPlace | undefined;
}

export interface StreamPlace {
  readonly offset: number;
  /** The run of that stream's last run_start, null when there was none. */
  readonly currentRun: string | null;
}

export function encodeNote({ code, detail, length, from, raw }: Note): Uint8Array {
  const head = JSON.stringify({ code, detail, length, from });
  const headBytes = Buffer.byteLength(head);
  // From the runtime's pool: in a record of many streams, there is a note before every small piece.
  const bytes = Buffer.allocUnsafe(12 + headBytes + raw.length);
  bytes.writeUInt32BE(noteMark, 0);
  bytes.writeUInt32BE(headBytes, 4);
  bytes.write(head, 8);
  bytes.writeUInt32BE(raw.length, 8 + headBytes);
  bytes.set(raw, 12 + headBytes);
  return bytes;
}

/** The note before what another stream delivered. */
export function encodeSwitch({ offset, currentRun }: StreamPlace): Uint8Array {
  return encodeNote({ length: 0, raw: noBytes, from: { offset, currentRun } });
}

export interface SegmentReader {
  /** May return steps, for a large frame. */
  frame(start: number, end: number, offset: number): Generator<void, void> | void;
  note(note: Note, offset: number): void;
  /** `at` is where the body continues. */
  switch(from: StreamPlace, at: number): void;
}

/** Walks the segments of a body that starts at a stream offset. The journal has checked the bytes. */
export function readSegments(body: Uint8Array, offset: number, reader: SegmentReader): void {
  atOnce(readSegmentsInSteps(body, offset, reader));
}

/** The same, with the pauses that reading a frame has. */
export function* readSegmentsInSteps(body: Uint8Array, offset: number, reader: SegmentReader): Generator<void, void> {
  let at = 0;
  let streamAt = offset;
  while (at + prefixBytes <= body.length) {
    const size = readLength(body, at);
    if (size !== noteMark) {
      const steps = reader.frame(at + prefixBytes, at + prefixBytes + size, streamAt);
      if (steps !== undefined) yield* steps;
      at += prefixBytes + size;
      streamAt += prefixBytes + size;
      continue;
    }
    const headEnd = at + 8 + readLength(body, at + 4);
    const head = JSON.parse(new TextDecoder().decode(body.subarray(at + 8, headEnd))) as Omit<Note, "raw">;
    const rawEnd = headEnd + 4 + readLength(body, headEnd);
    at = rawEnd;
    if (head.from !== undefined) {
      streamAt = head.from.offset;
      reader.switch(head.from, at);
      continue;
    }
    reader.note({ ...head, raw: body.slice(headEnd + 4, rawEnd) }, streamAt);
    streamAt += head.length;
  }
}

/** The frame, with its length, at an offset of the stream with which the body begins. */
export function frameAt(body: Uint8Array, offset: number, frameOffset: number): Uint8Array {
  let found = new Uint8Array(0);
  let isOther = false;
  const frame = (start: number, end: number, at: number) => {
    if (at === frameOffset && !isOther) found = body.slice(start - prefixBytes, end);
  };
  const onSwitch = () => {
    isOther = true;
  };
  readSegments(body, offset, { frame, note: () => {}, switch: onSwitch });
  return found;
}
