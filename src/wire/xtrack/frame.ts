// Chunks in, frames out. Pull-style: push a chunk, then call `next` until it says "wait" (or "end").
//
//   "frame"    bytes[frameStart..frameEnd) is the payload of a frame; the caller decodes it and calls `reject`
//              when it is not JSON, and the framer looks for the next intact frame
//   "skipped"  `skipped` is a range of the stream in which no intact frame begins
//   "text"     only with `text`: bytes[textStart..textEnd) is text between frames (prints mixed into stdout)
//   "wait"     more bytes are needed
//   "end"      after `end`: everything is read, `ending` says how the stream ended
//
// The same stream gives the same frames and skipped ranges however it is cut into chunks. A bogus length after a torn
// frame can claim 4 GB, so memory is never allocated by it: the buffer grows with the bytes that really came, and
// skipped bytes leave it at once, except for the first ones, which are kept to be shown.
//
// Ownership: a pushed chunk belongs to the framer. Bytes that were delivered are never written again, so views of
// them stay valid as long as the caller holds them; views of lent memory, until the caller reuses it.

import assert from "node:assert/strict";
import { copyBytes } from "#base/copy-bytes.ts";
import {
  CandidateJudge,
  findJsonTrouble,
  frameLimitCeiling,
  type JsonTroubleNote,
  mayStartObject,
  prefixBytes,
  readLength,
} from "./resync.ts";

export interface FramerOptions {
  /** Frames with a longer payload are skipped. */
  readonly frameBytesMax?: number;
  /** How many bytes of a skipped range are kept. */
  readonly skippedBytesMax?: number;
  /** Text may stand between the frames. */
  readonly text?: boolean;
  /** Stream offset of the first byte that will be pushed. */
  readonly offset?: number;
}

const noBytes = new Uint8Array(0);
const frameBytesMaxDefault: number = 64 * 1024 * 1024;
const skippedBytesMaxDefault = 64 * 1024;

export type Step = "frame" | "skipped" | "text" | "wait" | "end";
/** How a stream ended: between two frames, or inside one because the connection dropped or the file is torn. */
export type Ending = "clean" | "torn";

export interface Skipped {
  /** json_…: one whole frame that is not JSON; the others as their names say. */
  readonly code: JsonTroubleNote["code"] | "xtrack_frame_too_large" | "xtrack_frame_torn" | "xtrack_bytes_skipped";
  readonly offset: number;
  readonly length: number;
  readonly detail: string;
  /** The first bytes of the range, a copy. */
  readonly raw: Uint8Array;
}

export class Framer {
  bytes: Uint8Array = noBytes;
  frameStart = 0;
  frameEnd = 0;
  textStart = 0;
  textEnd = 0;
  skipped: Skipped | undefined;
  ending: Ending = "clean";
  /** Stream offset of bytes[0]. */
  base: number;

  private at = 0;
  private end = 0;
  private owned = false;
  /** The bytes belong to the caller again once they are read. */
  private isLent = false;
  private ended = false;
  private synced = true;
  private rangeOffset = 0;
  private rangeLength = 0;
  private rangeRaw = new Uint8Array(0);
  private rangeRawBytes = 0;
  private readonly judge: CandidateJudge;
  private readonly frameBytesMax: number;
  private readonly skippedBytesMax: number;
  private readonly text: boolean;
  /** No prefix within the limit starts with a larger byte. */
  private readonly firstByteMax: number;

  constructor(options: FramerOptions = {}) {
    this.frameBytesMax = Math.min(options.frameBytesMax ?? frameBytesMaxDefault, frameLimitCeiling);
    this.skippedBytesMax = options.skippedBytesMax ?? skippedBytesMaxDefault;
    this.text = options.text ?? false;
    this.base = options.offset ?? 0;
    this.firstByteMax = this.frameBytesMax >>> 24;
    this.judge = new CandidateJudge(this.frameBytesMax);
  }

  /** Stream offset of the last frame's length prefix. */
  get frameOffset(): number {
    return this.base + this.frameStart - prefixBytes;
  }

  /** Stream offset up to which everything has been reported. */
  get settledOffset(): number {
    return this.synced ? this.base + this.at : this.rangeOffset;
  }

  /** Bytes held back because they may belong to a frame that is not whole yet. */
  get pendingBytes(): number {
    return this.end - this.at + this.rangeRawBytes;
  }

  push(chunk: Uint8Array): void {
    const held = this.end - this.at;
    if (held === 0) {
      this.base += this.at;
      this.bytes = chunk;
      this.owned = false;
      this.isLent = false;
      this.at = 0;
      this.end = chunk.length;
      return;
    }
    if (!this.owned || this.end + chunk.length > this.bytes.length) this.moveHeld(held + chunk.length);
    copyBytes(chunk, 0, chunk.length, this.bytes, this.end);
    this.end += chunk.length;
  }

  /** As `push`, for `memory[start..end)`, which is lent: what is held is copied before it, where there must be room. */
  pushLent(memory: Uint8Array, start: number, end: number): void {
    const at = start - (this.end - this.at);
    assert(at >= 0, "lent memory has room for what is held");
    copyBytes(this.bytes, this.at, this.end, memory, at);
    this.base += this.at - at;
    this.bytes = memory;
    this.owned = false;
    this.isLent = true;
    this.at = at;
    this.end = end;
  }

  /** Drops the bytes once all are read, because a connection may be silent for hours, and keeps no reference to lent memory. */
  letGo(): void {
    if (this.at < this.end) {
      if (this.isLent) this.moveHeld(this.end - this.at);
      return;
    }
    this.base += this.at;
    this.bytes = noBytes;
    this.owned = false;
    this.isLent = false;
    this.at = 0;
    this.end = 0;
  }

  /** No more bytes will come. */
  finish(): void {
    this.ended = true;
  }

  next(): Step {
    for (;;) {
      const step = this.synced ? this.nextSynced() : this.scan();
      if (step !== undefined) return step;
    }
  }

  /** The last frame is not JSON: goes back to look for an intact frame from its second byte on. */
  reject(): void {
    this.at = this.frameStart - prefixBytes;
    this.openRange();
  }

  /** The stream is in sync: a frame starts here, or sync is lost and `scan` takes over. */
  private nextSynced(): Step | undefined {
    const { bytes, at, end } = this;
    const held = end - at;
    if (held === 0) return this.ended ? "end" : "wait";
    if ((bytes[at] as number) > this.firstByteMax) return this.loseStep();
    if (held < prefixBytes) return this.ended ? this.loseStep() : "wait";
    const size = readLength(bytes, at);
    if (size > this.frameBytesMax) return this.loseStep();
    const body = at + prefixBytes;
    if (this.text) {
      if (size < 2) return this.loseStep();
      if (body < end && !mayStartObject(bytes[body] as number)) return this.loseStep();
    }
    if (size <= end - body) {
      this.frameStart = body;
      this.frameEnd = body + size;
      this.at = this.frameEnd;
      return "frame";
    }
    if (this.ended || this.judge.isRefuted(bytes, this.base, body, end)) return this.loseStep();
    return "wait";
  }

  private loseStep(): Step | undefined {
    if (this.text && !this.isHeader(this.at)) return this.takeText();
    this.openRange();
    return undefined;
  }

  /** Amid text, only what looks like a prefix and an object is a broken frame; everything else is text. */
  private isHeader(at: number): boolean {
    const { bytes, end } = this;
    if ((bytes[at] as number) > this.firstByteMax || end - at <= prefixBytes) return false;
    const size = readLength(bytes, at);
    return size >= 2 && size <= this.frameBytesMax && mayStartObject(bytes[at + prefixBytes] as number);
  }

  private takeText(): Step {
    this.textStart = this.at;
    this.at = this.findPrefixByte(this.at + 1);
    this.textEnd = this.at;
    return "text";
  }

  private findPrefixByte(from: number): number {
    const { bytes, end, firstByteMax } = this;
    let at = from;
    while (at < end && (bytes[at] as number) > firstByteMax) at++;
    return at;
  }

  private openRange(): void {
    this.synced = false;
    this.rangeOffset = this.base + this.at;
    this.rangeLength = 0;
    this.rangeRawBytes = 0;
    this.skipTo(this.at + 1);
  }

  private skipTo(to: number): void {
    const kept = Math.min(to - this.at, this.skippedBytesMax - this.rangeRawBytes);
    if (kept > 0) this.keepRaw(kept);
    this.rangeLength += to - this.at;
    this.at = to;
  }

  private keepRaw(size: number): void {
    const need = this.rangeRawBytes + size;
    if (need > this.rangeRaw.length) {
      const grown = new Uint8Array(Math.min(Math.max(need * 2, 256), this.skippedBytesMax));
      grown.set(this.rangeRaw.subarray(0, this.rangeRawBytes));
      this.rangeRaw = grown;
    }
    this.rangeRaw.set(this.bytes.subarray(this.at, this.at + size), this.rangeRawBytes);
    this.rangeRawBytes = need;
  }

  /** Out of sync: skips to the next intact frame. */
  private scan(): Step | undefined {
    for (;;) {
      const to = this.findPrefixByte(this.at);
      if (this.text && this.skipLine(to)) return this.closeRange();
      this.skipTo(to);
      if (to === this.end) return this.ended ? this.closeRange() : "wait";
      const verdict = this.judge.judge(this.bytes, this.base, to, this.end, this.ended);
      if (verdict === "wait") return "wait";
      if (verdict === "frame") return this.closeRange();
      this.skipTo(to + 1);
    }
  }

  /** Amid text, a skipped range ends with its line, or where no more of it would be kept; what follows is text again. */
  private skipLine(to: number): boolean {
    const keptTo = this.at + this.skippedBytesMax - this.rangeLength;
    const last = Math.min(to, keptTo);
    const line = this.bytes.subarray(this.at, last).indexOf(0x0a);
    if (line < 0 && to < keptTo) return false;
    this.skipTo(line < 0 ? last : this.at + line + 1);
    return true;
  }

  private closeRange(): Step {
    this.synced = true;
    this.skipped = this.describe(this.rangeRaw.slice(0, this.rangeRawBytes));
    this.rangeRaw = new Uint8Array(0);
    this.rangeRawBytes = 0;
    if (this.ended && this.at === this.end && !this.skipped.code.startsWith("json")) this.ending = "torn";
    return "skipped";
  }

  /** Describes a range by its bytes alone, so that its chunks make no difference. */
  private describe(raw: Uint8Array): Skipped {
    const { rangeOffset: offset, rangeLength: length } = this;
    const range = { offset, length, raw };
    const atEnd = this.ended && this.at === this.end;
    if (raw.length <= prefixBytes) {
      if (atEnd && length <= prefixBytes && (raw[0] as number) <= this.firstByteMax)
        return { ...range, code: "xtrack_frame_torn", detail: `the stream ends ${length} bytes into a length prefix` };
      if (length === prefixBytes && readLength(raw, 0) === 0)
        return { ...range, code: "json_syntax", detail: "an empty frame" };
      return { ...range, code: "xtrack_bytes_skipped", detail: corruptDetail(length) };
    }
    const claimed = readLength(raw, 0);
    const whole = length === prefixBytes + claimed;
    const looksRight = mayStartObject(raw[prefixBytes] as number);
    const isCut = atEnd && length < prefixBytes + claimed;
    if (claimed > this.frameBytesMax && looksRight && (whole || (isCut && !isPrintable(raw))))
      return {
        ...range,
        code: "xtrack_frame_too_large",
        detail: `the frame has ${claimed} bytes, the limit is ${this.frameBytesMax}`,
      };
    if (claimed <= this.frameBytesMax && whole) {
      const trouble = raw.length === length ? findJsonTrouble(raw, prefixBytes, raw.length) : undefined;
      return { ...range, ...(trouble ?? notJson) };
    }
    if (claimed <= this.frameBytesMax && looksRight && isCut)
      return {
        ...range,
        code: "xtrack_frame_torn",
        detail: `the stream ends ${length - prefixBytes} bytes into a frame of ${claimed}`,
      };
    return { ...range, code: "xtrack_bytes_skipped", detail: corruptDetail(length) };
  }

  private moveHeld(need: number): void {
    const held = this.bytes.subarray(this.at, this.end);
    const moved = new Uint8Array(Math.max(need, held.length * 2));
    moved.set(held);
    this.base += this.at;
    this.end = held.length;
    this.at = 0;
    this.bytes = moved;
    this.owned = true;
    this.isLent = false;
  }
}

const notJson: JsonTroubleNote = { code: "json_syntax", detail: "the frame is not JSON" };

function corruptDetail(length: number): string {
  return `skipped ${length} bytes without an intact frame`;
}

/** Four printable characters are a piece of text, not the length of a frame of half a gigabyte. */
function isPrintable(raw: Uint8Array): boolean {
  return raw.subarray(0, prefixBytes).every((byte) => byte >= 0x20 && byte < 0x7f);
}
