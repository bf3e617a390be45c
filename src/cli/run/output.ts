// A program's standard output, taken apart: XTrack frames, Cirron's sentinels, and the text it meant for people. Text is
// passed on at once; lines are collected for the log.

import { findSentinels, type Sentinel } from "#wire/cirron/sentinel.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import { findJsonTrouble, prefixBytes } from "#wire/xtrack/resync.ts";

export interface OutputEvents {
  /** A whole frame, its length prefix included. */
  onFrame(frame: Uint8Array): void;
  /** Bytes that look like a frame and are none. They are passed on as text too. */
  onDamaged(bytes: Uint8Array): void;
  onSentinel(sentinel: Sentinel): void;
  /** Text for the terminal, in the order it was printed. */
  onText(text: Uint8Array): void;
}

const newline = 0x0a;
const envelopeStart = /^\s*\{\s*"[a-z]"/;
const latin1 = new TextDecoder("latin1");
const sentinelStart = Buffer.from('{"__cirron_event__"');

export class OutputSplitter {
  private readonly framer = new Framer({ text: true });
  private readonly events: OutputEvents;
  /** The unfinished part of a line, from where a sentinel may begin. */
  private held: Buffer = Buffer.alloc(0);

  constructor(events: OutputEvents) {
    this.events = events;
  }

  push(chunk: Uint8Array): void {
    this.framer.push(chunk);
    this.advance();
  }

  finish(): void {
    this.framer.finish();
    this.advance();
    if (this.held.length > 0) this.events.onText(this.held);
    this.held = Buffer.alloc(0);
  }

  private advance(): void {
    const { framer } = this;
    for (let step = framer.next(); step !== "wait" && step !== "end"; step = framer.next()) {
      if (step === "frame") {
        const { bytes, frameStart, frameEnd } = framer;
        if (findJsonTrouble(bytes, frameStart, frameEnd) !== undefined) framer.reject();
        else this.events.onFrame(bytes.slice(frameStart - prefixBytes, frameEnd));
      } else if (step === "text") this.takeText(framer.bytes.subarray(framer.textStart, framer.textEnd));
      else if (framer.skipped) this.takeSkipped(framer.skipped.raw);
    }
  }

  private takeSkipped(bytes: Uint8Array): void {
    // Anything else with four small bytes before a brace is a program's own output.
    if (envelopeStart.test(latin1.decode(bytes.subarray(prefixBytes, prefixBytes + 32)))) this.events.onDamaged(bytes);
    this.takeText(bytes);
  }

  /** Passes text on at once. Of a line that may become a sentinel only the part before it goes on. */
  private takeText(text: Uint8Array): void {
    let bytes = Buffer.concat([this.held, text]);
    this.held = Buffer.alloc(0);
    for (;;) {
      const at = findStart(bytes);
      if (at === bytes.length) {
        this.pass(bytes);
        return;
      }
      const end = bytes.indexOf(newline, at);
      if (end < 0) {
        this.pass(bytes.subarray(0, at));
        this.held = bytes.subarray(at);
        return;
      }
      this.takeLine(bytes.subarray(0, end + 1));
      bytes = bytes.subarray(end + 1);
    }
  }

  private takeLine(line: Buffer): void {
    let from = 0;
    for (const sentinel of findSentinels(line)) {
      this.pass(line.subarray(from, sentinel.start));
      this.events.onSentinel(sentinel);
      from = sentinel.end;
      // The sentinel's own line end is no empty line of the program's.
      if (from === line.length - 1) from = line.length;
    }
    this.pass(line.subarray(from));
  }

  private pass(text: Uint8Array): void {
    if (text.length > 0) this.events.onText(text.slice());
  }
}

/** Where a sentinel begins, or may begin with the last bytes; the length when none does. */
function findStart(bytes: Buffer): number {
  const found = bytes.indexOf(sentinelStart);
  if (found >= 0) return found;
  for (let length = Math.min(sentinelStart.length - 1, bytes.length); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(sentinelStart.subarray(0, length))) return bytes.length - length;
  }
  return bytes.length;
}

/** A line without an end is held up to this size: a progress bar may write one line for days. */
const openLineBytesMax = 16 * 1024 * 1024;

/** Collects whole lines of a stream with the offset they begin at. */
export class LineCollector {
  private held: Uint8Array[] = [];
  private offset = 0;
  bytes = 0;
  /** How many of them are whole lines. */
  private wholeBytes = 0;

  add(text: Uint8Array): void {
    const end = text.lastIndexOf(newline) + 1;
    if (end > 0) this.wholeBytes = this.bytes + end;
    this.held.push(text);
    this.bytes += text.length;
  }

  /** The whole lines so far; at the end of the stream, and beyond a bound, also a line without an end. */
  take(atEnd: boolean): { readonly bytes: Uint8Array; readonly offset: number } | undefined {
    const isCut = !atEnd && this.wholeBytes === 0 && this.bytes > openLineBytesMax;
    if (this.bytes === 0 || (this.wholeBytes === 0 && !atEnd && !isCut)) return undefined;
    const all = Buffer.concat(this.held);
    const end = atEnd ? all.length : isCut ? lastCharacter(all) : this.wholeBytes;
    const taken = { bytes: all.subarray(0, end), offset: this.offset };
    this.held = [all.subarray(end)];
    this.bytes = all.length - end;
    this.wholeBytes = 0;
    this.offset += end;
    return taken;
  }
}

/** Where the last character of a UTF-8 text begins, which may not be whole. */
function lastCharacter(text: Uint8Array): number {
  let at = text.length - 1;
  while (at > 0 && ((text[at] as number) & 0xc0) === 0x80) at--;
  return at;
}
