// One XTrack stream: a connection, a file or a request body, from chunks to journal records and decoded events.
//
// The contract with the owner of the stream:
//   - Each chunk is given to `push`, and the end announced by `finish`. The answer holds everything that is settled now:
//     `body`, `offset` and `currentRun` go into the journal record as they are, `decoded` into the sequencer with it.
//     An incomplete frame stays here and comes with a later answer. It has not been accepted, and is lost with the
//     connection.
//   - `decodeXtrack(record)` gives the same events from the journal record alone. That is why a record holds whole
//     frames only, and the run that events without an id belong to.
//   - An API key is returned in `keys` and is in no record. Text between frames is returned in `text`.
//   - A pushed chunk belongs to the stream; `body` may be a view of it.

import assert from "node:assert/strict";
import { joinBytes } from "#base/join-bytes.ts";
import { atOnce } from "#base/turns.ts";
import type { Fault } from "#model/fault.ts";
import { EventDecoder, largeFrameBytes, type Outcome } from "./decode.ts";
import type { EventColumns } from "./event-columns.ts";
import { type Ending, Framer, type FramerOptions, type Step } from "./frame.ts";
import { readGreeting } from "./greeting.ts";
import { prefixBytes } from "./resync.ts";
import { encodeNote, type Note, readSegmentsInSteps, type StreamPlace } from "./segments.ts";

/** A fault, and whose event it concerns. */
export interface StreamFault {
  readonly fault: Fault;
  /** '' when not known. */
  readonly run: string;
  readonly worker: string;
  /** The sequence number of a refused event, if it could be read: an ack with the reason is due. */
  readonly seq: number | bigint | undefined;
}

/** A decoded journal record. */
export interface DecodedXtrack {
  readonly columns: EventColumns;
  readonly faults: readonly StreamFault[];
  /** Where the body continues with another stream, in order. */
  readonly switches?: readonly StreamSwitch[];
}

export interface StreamSwitch extends StreamPlace {
  /** The first event of that stream, and where its bytes begin in the body. */
  readonly event: number;
  readonly at: number;
}

/** Columns that several streams fill in turn, for one record. */
export interface SharedEvents {
  readonly columns: EventColumns;
  readonly faults: StreamFault[];
}

export interface XtrackRecord {
  readonly body: Uint8Array;
  /** Stream offset at which the body begins. */
  readonly offset: number;
  /** The run of the stream's last run_start before the body, null when there was none. */
  readonly currentRun: string | null;
  /** The file the stream is read from, '' for none; named by its faults. */
  readonly file: string;
}

export interface TextPiece {
  readonly bytes: Uint8Array;
  readonly offset: number;
}

export interface StreamChunk extends XtrackRecord {
  /** Nothing in it needs to be journalled: only keys or text came. */
  readonly isEmpty: boolean;
  readonly decoded: DecodedXtrack;
  /** The first event and the first fault of `decoded` that belong to this chunk; not 0 when the columns are shared. */
  readonly firstEvent: number;
  readonly firstFault: number;
  readonly keys: readonly string[];
  readonly text: readonly TextPiece[];
}

export interface StreamOptions extends FramerOptions {
  readonly file?: string;
  /** Events without an id belong to this run until the stream starts one. */
  readonly currentRun?: string | null;
  /** The stream may begin with an API key as a line: for sockets, not files. */
  readonly greeting?: boolean;
}

export class XtrackStream {
  private readonly framer: Framer;
  private readonly decoder: EventDecoder;
  private readonly file: string;
  /** Bytes held until it is clear whether the stream begins with a key; null after that. */
  private greeting: Uint8Array | null;

  constructor(options: StreamOptions = {}) {
    this.framer = new Framer(options);
    this.decoder = new EventDecoder(options.currentRun ?? "");
    this.file = options.file ?? "";
    this.greeting = options.greeting ? new Uint8Array(0) : null;
  }

  /** How the stream ended, once `finish` was called. */
  get ending(): Ending {
    return this.framer.ending;
  }

  /** Bytes of a frame that is not whole yet. */
  get pendingBytes(): number {
    return this.framer.pendingBytes + (this.greeting?.length ?? 0);
  }

  /** Null when nothing is settled yet. */
  push(chunk: Uint8Array): StreamChunk | null {
    return atOnce(this.pushInSteps(chunk));
  }

  /** The same with pauses within large frames. Nothing else may be done with the stream until it is over. */
  *pushInSteps(chunk: Uint8Array): Generator<void, StreamChunk | null> {
    if (this.greeting !== null) return this.pushGreeting(chunk, false);
    this.framer.push(chunk);
    return yield* this.drainInSteps();
  }

  /**
   * The same for `memory[start..end)`, which is lent: the chunk's body is a view of it, and nothing else refers to it. Before
   * `start` it must have room for the pending bytes.
   */
  *pushLent(memory: Uint8Array, start: number, end: number): Generator<void, StreamChunk | null> {
    assert(this.greeting === null, "a stream with a greeting keeps its first bytes");
    this.framer.pushLent(memory, start, end);
    return yield* this.drainInSteps();
  }

  private *drainInSteps(): Generator<void, StreamChunk | null> {
    const gathered = this.gather();
    for (let large = gathered.drain(); large !== null; large = gathered.drain()) yield* large;
    return this.take(gathered);
  }

  /** As `push`, for a stream without a greeting, onto columns that other streams fill too. */
  pushShared(chunk: Uint8Array, shared: SharedEvents): StreamChunk | null {
    const { decoder } = this;
    const own = decoder.columns;
    decoder.columns = shared.columns;
    this.framer.push(chunk);
    const gathered = this.gather(shared.faults);
    gathered.drainAtOnce();
    decoder.columns = own;
    return gathered.toChunk();
  }

  finish(): StreamChunk | null {
    const greeted = this.greeting === null ? null : this.pushGreeting(new Uint8Array(0), true);
    if (greeted !== null) return greeted;
    this.framer.finish();
    return this.takeAtOnce(this.gather());
  }

  private pushGreeting(chunk: Uint8Array, ended: boolean): StreamChunk | null {
    const held = new Uint8Array((this.greeting?.length ?? 0) + chunk.length);
    held.set(this.greeting ?? []);
    held.set(chunk, held.length - chunk.length);
    const found = readGreeting(held);
    if (found.kind === "wait" && !ended) {
      this.greeting = held;
      return null;
    }
    this.greeting = null;
    const keyBytes = found.kind === "key" ? found.end : 0;
    this.framer.base += keyBytes;
    this.framer.push(held.subarray(keyBytes));
    if (ended) this.framer.finish();
    const gathered = this.gather();
    if (found.kind === "key") gathered.addGreeting(found.key, keyBytes);
    return this.takeAtOnce(gathered);
  }

  private gather(faults: StreamFault[] = []): Gathered {
    return new Gathered(this.framer, this.decoder, this.file, faults);
  }

  private takeAtOnce(gathered: Gathered): StreamChunk | null {
    gathered.drainAtOnce();
    return this.take(gathered);
  }

  /** What comes later goes to fresh columns. */
  private take(gathered: Gathered): StreamChunk | null {
    const chunk = gathered.toChunk();
    if (chunk !== null) this.decoder.renewColumns();
    return chunk;
  }
}

/** What the framer gives after one push. */
class Gathered {
  private readonly framer: Framer;
  private readonly decoder: EventDecoder;
  private readonly file: string;
  private readonly parts: Uint8Array[] = [];
  private readonly keys: string[] = [];
  private readonly text: TextPiece[] = [];
  private readonly columns: EventColumns;
  private readonly faults: StreamFault[];
  private readonly firstEvent: number;
  private readonly firstFault: number;
  private readonly currentRun: string | null;
  private offset: number;
  // Adjacent frames are one part, a view of the framer's bytes.
  private sideStart = -1;
  private sideEnd = -1;

  /** `faults`, like the decoder's columns, may already have some of other streams. */
  constructor(framer: Framer, decoder: EventDecoder, file: string, faults: StreamFault[]) {
    this.framer = framer;
    this.decoder = decoder;
    this.file = file;
    this.columns = decoder.columns;
    this.faults = faults;
    this.firstEvent = decoder.columns.length;
    this.firstFault = faults.length;
    this.currentRun = decoder.streamRun === "" ? null : decoder.streamRun;
    this.offset = framer.settledOffset;
  }

  /** The stream began with a key, which is put into no record. */
  addGreeting(key: string, bytes: number): void {
    this.keys.push(key);
    this.addNote({ length: bytes, raw: new Uint8Array(0) });
    this.offset -= bytes;
  }

  /** Takes everything from the framer, up to a large frame: its decoding is returned, and must be done before the rest. */
  drain(): Generator<void, void> | null {
    for (let step = this.framer.next(); !isOver(step); step = this.framer.next()) {
      if (step === "frame" && this.isLarge) return this.takeLarge();
      this.take(step);
    }
    this.endSide();
    this.framer.letGo();
    this.decoder.letGo();
    return null;
  }

  drainAtOnce(): void {
    for (let large = this.drain(); large !== null; large = this.drain()) atOnce(large);
  }

  /** Null when nothing came. */
  toChunk(): StreamChunk | null {
    const { parts, columns, faults, firstEvent, firstFault, offset, currentRun, file, keys, text } = this;
    if (parts.length === 0) return null;
    const decoded = { columns, faults };
    const isEmpty = columns.length === firstEvent && faults.length === firstFault;
    return { body: joinBytes(parts), offset, currentRun, file, decoded, firstEvent, firstFault, keys, text, isEmpty };
  }

  private get isLarge(): boolean {
    return this.framer.frameEnd - this.framer.frameStart > largeFrameBytes;
  }

  private *takeLarge(): Generator<void, void> {
    const { bytes, frameStart, frameEnd, frameOffset } = this.framer;
    this.takeFrame(yield* this.decoder.decodeLarge(bytes, frameStart, frameEnd, frameOffset));
  }

  private take(step: Step): void {
    if (step === "frame") {
      const { bytes, frameStart, frameEnd, frameOffset } = this.framer;
      this.takeFrame(this.decoder.decode(bytes, frameStart, frameEnd, frameOffset));
    } else if (step === "skipped") this.takeSkipped();
    else this.takeText();
  }

  private takeFrame(outcome: Outcome): void {
    const { framer, decoder } = this;
    const { bytes, frameStart, frameEnd } = framer;
    if (outcome === "not_json") {
      framer.reject();
      return;
    }
    if (outcome === "auth") {
      this.keys.push(decoder.authKey);
      this.addNote({ length: prefixBytes + frameEnd - frameStart, raw: new Uint8Array(0) });
      return;
    }
    if (outcome === "refused") {
      const refusal = toRefusal(decoder, bytes, frameStart, frameEnd, framer.frameOffset, this.file);
      this.faults.push(refusal);
      if (decoder.refusal?.isSecret) {
        const { code, detail, raw } = refusal.fault;
        this.addNote({ code, detail, length: prefixBytes + frameEnd - frameStart, raw });
        return;
      }
    }
    if (this.sideEnd !== frameStart - prefixBytes) {
      this.endSide();
      this.sideStart = frameStart - prefixBytes;
    }
    this.sideEnd = frameEnd;
  }

  private takeSkipped(): void {
    const { skipped } = this.framer;
    if (skipped === undefined) return;
    const { code, detail, length, raw, offset } = skipped;
    const note: Note = { code, detail, length, raw };
    this.addNote(note);
    this.faults.push(toNoteFault(note, offset, this.file, this.decoder.streamRun));
  }

  private takeText(): void {
    const { bytes, textStart, textEnd, base } = this.framer;
    this.text.push({ bytes: bytes.subarray(textStart, textEnd), offset: base + textStart });
    this.addNote({ length: textEnd - textStart, raw: new Uint8Array(0) });
  }

  private addNote(note: Note): void {
    this.endSide();
    this.parts.push(encodeNote(note));
  }

  private endSide(): void {
    if (this.sideStart >= 0) this.parts.push(this.framer.bytes.subarray(this.sideStart, this.sideEnd));
    this.sideStart = -1;
    this.sideEnd = -1;
  }
}

/** Whether the framer has nothing more to give now. */
function isOver(step: Step): boolean {
  return step === "wait" || step === "end";
}

/** The events and faults of a journal record: the same that `push` gave. */
export function decodeXtrack(record: XtrackRecord): DecodedXtrack {
  return atOnce(decodeXtrackInSteps(record));
}

/** The same with pauses. */
export function* decodeXtrackInSteps(record: XtrackRecord): Generator<void, DecodedXtrack> {
  const { body, file } = record;
  const decoder = new EventDecoder(record.currentRun ?? "");
  const faults: StreamFault[] = [];
  const switches: StreamSwitch[] = [];
  const take = (outcome: Outcome, start: number, end: number, offset: number) => {
    if (outcome === "refused") faults.push(toRefusal(decoder, body, start, end, offset, file));
  };
  function* takeLarge(start: number, end: number, offset: number): Generator<void, void> {
    take(yield* decoder.decodeLarge(body, start, end, offset), start, end, offset);
  }
  yield* readSegmentsInSteps(body, record.offset, {
    frame: (start, end, offset) => {
      if (end - start > largeFrameBytes) return takeLarge(start, end, offset);
      take(decoder.decode(body, start, end, offset), start, end, offset);
    },
    note: (note, offset) => {
      if (note.code !== undefined) faults.push(toNoteFault(note, offset, file, decoder.streamRun));
    },
    switch: (from, at) => {
      decoder.streamRun = from.currentRun ?? "";
      switches.push({ ...from, event: decoder.columns.length, at });
    },
  });
  return { columns: decoder.columns, faults, switches };
}

function toRefusal(
  decoder: EventDecoder,
  bytes: Uint8Array,
  start: number,
  end: number,
  offset: number,
  file: string,
): StreamFault {
  const { refusal } = decoder;
  if (refusal === undefined) throw new Error("a refused event has a refusal");
  const { code, detail, pointer, run, worker, seq } = refusal;
  const place = { ...(file === "" ? {} : { file }), offset, ...(pointer === "" ? {} : { pointer }) };
  const raw = refusal.isSecret ? new Uint8Array(0) : bytes.slice(start, end);
  return { fault: { code, detail, place, raw }, run, worker, seq };
}

function toNoteFault(note: Note, offset: number, file: string, run: string): StreamFault {
  const { code = "xtrack_bytes_skipped", detail = "", raw } = note;
  const place = { ...(file === "" ? {} : { file }), offset };
  return { fault: { code, detail, place, raw }, run, worker: "", seq: undefined };
}
