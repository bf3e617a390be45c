// Finding the next intact frame after a corruption, as the document says: look for four bytes that form a reasonable
// length, try to decode what follows, else advance by one byte.
//
// Done naively that is quadratic, because every false prefix may claim megabytes. Here it is linear, because JSON text has no
// byte below 0x09 (they must be escaped), while the first byte of every prefix up to the limit is one. So a false prefix is
// refuted by the first such byte in its body, at the latest by the prefix of the next intact frame. Bodies that survive this
// test overlap at most four deep, and only those are parsed. For the same reason no false prefix, however large its claim,
// can keep an intact frame waiting behind it.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { toJsonFault } from "#base/json/value.ts";
import { jsonFaultCodes } from "#model/fault.ts";

/** Bytes below this cannot occur in JSON text, and every prefix up to `frameLimitCeiling` starts with one. */
const jsonByteMin = 0x09;
/** The largest frame limit that can be configured: prefixes above it would start with a byte that JSON may hold. */
export const frameLimitCeiling: number = jsonByteMin * 0x1000000 - 1;
export const prefixBytes = 4;

export type Candidate = "frame" | "no" | "wait";

export function readLength(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) * 0x1000000 +
    (((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number))
  );
}

/** Whether a JSON object can start with this byte: an opening brace or a blank before it. */
export function mayStartObject(byte: number): boolean {
  return byte === 0x7b || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export interface JsonTroubleNote {
  readonly code: (typeof jsonFaultCodes)[keyof typeof jsonFaultCodes];
  readonly detail: string;
}

/** Why `bytes[start..end)` is not JSON that can be read, or undefined when it is. */
export function findJsonTrouble(bytes: Uint8Array, start: number, end: number): JsonTroubleNote | undefined {
  try {
    const cursor = new JsonCursor(bytes, start, end);
    cursor.skipValue();
    cursor.finish();
    return undefined;
  } catch (error) {
    const { kind, reason, offset } = toJsonFault(error);
    return { code: jsonFaultCodes[kind], detail: `${reason} (byte ${offset - start} of the payload)` };
  }
}

function isJsonObject(bytes: Uint8Array, start: number, end: number): boolean {
  const cursor = new JsonCursor(bytes, start, end);
  return cursor.peek() === jsonKind.object && findJsonTrouble(bytes, start, end) === undefined;
}

/** Judges one place after the other of a stream; places and bytes must come in ascending order. */
export class CandidateJudge {
  private readonly frameBytesMax: number;
  // There is no byte below 0x09 in [clearFrom, clearTo); if `refuted`, there is one at clearTo. Stream offsets.
  private clearFrom = 0;
  private clearTo = 0;
  private refuted = false;

  constructor(frameBytesMax: number) {
    this.frameBytesMax = frameBytesMax;
  }

  /** Whether there is a frame at `at`. `base` is the stream offset of bytes[0]; `ended`: no bytes will follow. */
  judge(bytes: Uint8Array, base: number, at: number, end: number, ended: boolean): Candidate {
    if (end - at <= prefixBytes) return ended ? "no" : "wait";
    const size = readLength(bytes, at);
    if (size < 2 || size > this.frameBytesMax) return "no";
    const body = at + prefixBytes;
    if (!mayStartObject(bytes[body] as number)) return "no";
    const bodyEnd = body + size;
    if (this.isRefuted(bytes, base, body, Math.min(bodyEnd, end))) return "no";
    if (bodyEnd > end) return ended ? "no" : "wait";
    return isJsonObject(bytes, body, bodyEnd) ? "frame" : "no";
  }

  /** Whether bytes[from..to) contains a byte that JSON text cannot have. Every byte is looked at once. */
  isRefuted(bytes: Uint8Array, base: number, from: number, to: number): boolean {
    if (base + from > this.clearTo || base + from < this.clearFrom) {
      this.clearFrom = base + from;
      this.clearTo = this.clearFrom;
      this.refuted = false;
    }
    if (this.refuted) return this.clearTo < base + to;
    let at = this.clearTo - base;
    while (at < to && (bytes[at] as number) >= jsonByteMin) at++;
    this.clearTo = Math.max(this.clearTo, base + at);
    this.refuted = at < to;
    return this.refuted;
  }
}
