// Chunks of bytes → lines. Lines end in LF; a CR before it belongs to the end. Nothing else is interpreted here, so
// a line's bytes are exactly what was written, and their SHA-256 is the record's identity forever.
//
// Memory is bounded by `lineBytesMax`: of a longer line only its head is kept, for the fault that reports it, and
// the rest is counted and passed over until the next LF.

import { joinBytes } from "#base/join-bytes.ts";

/** Where a line stands in its stream. */
export interface LinePlace {
  /** From 1. */
  readonly line: number;
  /** Byte offset of the line's first byte. */
  readonly offset: number;
}

export type SplitLine =
  /** `ended`: false for the last line of a stream that has no LF. */
  | { readonly kind: "line"; readonly bytes: Uint8Array; readonly place: LinePlace; readonly ended: boolean }
  | { readonly kind: "too_long"; readonly head: Uint8Array; readonly lengthBytes: number; readonly place: LinePlace };

export interface SplitLimits {
  readonly lineBytesMax: number;
}

/** An error's message in a SER has no bound of its own, so the limit only stops what cannot be a record. */
export const defaultSplitLimits: SplitLimits = { lineBytesMax: 64 * 1024 * 1024 };

/** How much of a line beyond the limit is kept for its fault. */
export const longLineHeadBytes = 4096;

const lf = 0x0a;
const cr = 0x0d;

/** Splits one stream. Lines are views of the caller's chunk where possible, and then valid until the caller changes the
 * chunk. */
export class LineSplitter {
  private readonly lineBytesMax: number;
  /** The line that has not ended: its bytes, of which only the head is kept once it is too long, and its true length. */
  private held: Uint8Array[] = [];
  private heldLength = 0;
  private line: number;
  private lineOffset: number;
  private atStart: boolean;

  /** `start` is the place at which the stream is continued. */
  constructor(limits: SplitLimits = defaultSplitLimits, start: LinePlace = { line: 1, offset: 0 }) {
    this.lineBytesMax = limits.lineBytesMax;
    this.line = start.line;
    this.lineOffset = start.offset;
    this.atStart = start.offset === 0;
  }

  /** The place of the line that has not ended yet. */
  get place(): LinePlace {
    return { line: this.line, offset: this.lineOffset };
  }

  *push(bytes: Uint8Array): Generator<SplitLine> {
    // What is held must be a copy, and a Buffer's `slice` is a view.
    const chunk = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    // A Buffer searches with the C library, a typed array byte by byte.
    const searched = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let from = 0;
    for (;;) {
      const end = searched.indexOf(lf, from);
      if (end < 0) break;
      yield this.take(chunk.subarray(from, end), true);
      from = end + 1;
    }
    if (from < chunk.length) this.hold(chunk.subarray(from));
  }

  /** The stream has ended: what is left is a line without its LF. */
  *finish(): Generator<SplitLine> {
    if (this.heldLength > 0) yield this.take(new Uint8Array(0), false);
  }

  private take(tail: Uint8Array, ended: boolean): SplitLine {
    const place = this.place;
    let bytes = tail;
    if (this.heldLength > 0 || tail.length > this.lineBytesMax) {
      this.hold(tail);
      bytes = joinBytes(this.held);
    }
    const lengthBytes = Math.max(this.heldLength, tail.length);
    this.held = [];
    this.heldLength = 0;
    this.line++;
    this.lineOffset += lengthBytes + (ended ? 1 : 0);
    if (lengthBytes > this.lineBytesMax) return { kind: "too_long", head: bytes, lengthBytes, place };
    const first = this.atStart && isByteOrderMark(bytes) ? 3 : 0;
    this.atStart = false;
    const end = bytes.length > first && bytes[bytes.length - 1] === cr ? bytes.length - 1 : bytes.length;
    const line = first === 0 && end === bytes.length ? bytes : bytes.subarray(first, end);
    return { kind: "line", bytes: line, place, ended };
  }

  private hold(part: Uint8Array): void {
    this.heldLength += part.length;
    if (this.heldLength > this.lineBytesMax) {
      this.held = [joinBytes([...this.held, part.subarray(0, longLineHeadBytes)]).slice(0, longLineHeadBytes)];
    } else this.held.push(part.slice());
  }
}

function isByteOrderMark(bytes: Uint8Array): boolean {
  return bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Whether a line holds nothing but blanks; such lines are passed over. */
export function isBlank(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) {
    const c = bytes[at];
    if (c !== 0x20 && c !== 0x09 && c !== cr) return false;
  }
  return true;
}

/** The column of a byte in its line, from 1, counted in code points as editors count them. */
export function columnOf(line: Uint8Array, offset: number): number {
  let column = 1;
  for (let i = 0; i < offset && i < line.length; i++) if (((line[i] as number) & 0xc0) !== 0x80) column++;
  return column;
}
