// One connection's frames on their way into the journal.
//
// Chunks gather and are decoded in turns with other streams. While a record is on its way to the disk, more chunks
// gather for the next one, so that a worker that sends many small events makes few records; once much has gathered, it
// does not wait. Small pieces are combined with those of other streams, see gatherer.ts.

import type { Decoded } from "#intake/input-kind.ts";
import { toDecodedFrames, type XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { QuietQuota } from "#server/quiet-quota.ts";
import type { Share } from "#server/unfinished-bytes.ts";
import { findLooseAcks } from "#wire/xtrack/loose-acks.ts";
import { type DecodedXtrack, decodeXtrack, type StreamChunk, XtrackStream } from "#wire/xtrack/stream.ts";
import { GatheredPieces } from "./gathered-pieces.ts";
import { type Gatherer, smallPieceBytes } from "./gatherer.ts";
import type { IntakeSink } from "./intake-sink.ts";
import { giveBack, type Lent, toLent } from "./lent-memory.ts";
import { findAsk, findSpeakers, type Speaker, toOutcomes } from "./outcomes.ts";
import type { EventOutcome, StreamEnd, StreamEvents, StreamOrigin } from "./ports.ts";

/** Keeps records that the journal had no room for. */
export interface RecordHolder {
  readonly isPatient: boolean;
  readonly heldBytes: number;
  /** Offers the oldest of them again; returns how many bytes were taken, 0 if there is no room. */
  offerHeld(): number;
}

export interface FrameRecord extends HeldRecord {
  readonly decoded: DecodedXtrack;
}

/** A held record is decoded again when it is offered: its columns would take more memory than its bytes. */
interface HeldRecord {
  readonly input: XtrackFramesInput;
  readonly outcomes: readonly EventOutcome[];
  /** The memory of its bytes, to be reused once it is applied. */
  readonly lent: Lent | null;
}

interface Decoding {
  readonly steps: Generator<void, StreamChunk | null>;
  readonly memory: Uint8Array | null;
}

/** Outside the class: a closure made in a method would keep the record and its columns until it is applied. */
function giveBackWhen(applied: Promise<unknown>, lent: Lent | null): void {
  applied.then(() => giveBack(lent), ignore);
}

function ignore(): void {}

/** When more than this has gathered, it does not wait for the record before it. */
const gatherBytesMax = 256 * 1024;
/** How long records may wait for room when the server shuts down. */
const shutdownMs = 2000;
/** A connection may speak for many workers of many runs, but made-up names must not fill the memory. */
const speakersMax = 1000;
const noFrame: ReadonlySet<string> = new Set(["xtrack_bytes_skipped", "xtrack_frame_torn", "xtrack_frame_too_large"]);

export class FrameStream implements RecordHolder {
  /** Whole frames found so far. */
  frames = 0;
  /** Whether to report the outcome of each event, from the current frame on. */
  reports = false;
  /** The peer waits when there is no room, so its bytes are held and never dropped. */
  isPatient = false;
  heldBytes = 0;
  private readonly sink: IntakeSink;
  private readonly origin: StreamOrigin;
  private readonly events: StreamEvents;
  private readonly source: XtrackStream;
  private readonly arriving: Share;
  private readonly quota = new QuietQuota();
  private readonly speakers = new Set<string>();
  private lastSpeaker: Speaker | undefined;
  private readonly leave: (() => void)[] = [];
  private readonly gathered = new GatheredPieces();
  /** The rest of a piece with large frames; nothing else of the stream is decoded before it. */
  private decoding: Decoding | undefined;
  /** How many chunks the last piece was made of, and how many frames it brought. */
  private chunksJoined = 0;
  private framesTaken = 0;
  private isResting = false;
  private flying = 0;
  private flyingBytes = 0;
  private held: HeldRecord[] = [];
  private gatherer: Gatherer | undefined;
  private isEnding = false;
  private isGivenUp = false;
  private whenSettled: (() => void) | undefined;

  constructor(sink: IntakeSink, origin: StreamOrigin, events: StreamEvents) {
    this.sink = sink;
    this.origin = origin;
    this.events = events;
    // Events without a run belong to the run that the connection names.
    this.source = new XtrackStream({ frameBytesMax: sink.options.frameBytesMax, currentRun: origin.runOverride });
    this.arriving = sink.options.unfinished.open();
  }

  /**
   * Bytes that came and are not durable yet, without the frame that is still arriving: waiting for that one to become
   * durable would never end.
   */
  get pendingBytes(): number {
    return this.gathered.bytes + this.flyingBytes + this.heldBytes;
  }

  /** The stream owns the chunk. It never refuses one: whatever cannot be kept is counted. */
  push(chunk: Uint8Array): void {
    const { sink } = this;
    this.gathered.add(chunk);
    sink.counters.gatheredBytes += chunk.length;
    // The carrier should have waited, or need not wait; then what finds no room is lost, and counted.
    while (sink.counters.gatheredBytes > sink.options.gatheredBytesMax && this.gathered.bytes > 0) this.work();
    this.askForTurn();
  }

  /** Decodes some of what has gathered. */
  work(): boolean {
    if (this.decoding === undefined) this.takeGathered();
    else this.decodeOn(this.decoding);
    return this.hasWork();
  }

  /**
   * If small pieces follow each other closely, they are left in the kernel until the next round, which reads them in
   * one go.
   */
  rest(): boolean {
    const isBusy = this.isResting ? this.framesTaken > 1 : this.chunksJoined > 1;
    this.isResting = isBusy && this.mayWait() && this.events.onRest();
    return this.isResting;
  }

  wake(): void {
    this.events.onWake();
  }

  collect(): void {
    this.events.onCollect();
  }

  rise(): void {
    this.isResting = false;
    this.events.onRise();
  }

  /** Resolves when everything is durable or given up, after the last outcomes. */
  async end(how: StreamEnd): Promise<void> {
    this.isEnding = true;
    const timer = how === "shutdown" ? setTimeout(() => this.giveUp(), shutdownMs) : undefined;
    this.askForTurn();
    await this.settled();
    this.take(this.source.finish(), null);
    await this.settled();
    clearTimeout(timer);
    this.arriving.close();
    this.sink.leave(this);
    for (const leave of this.leave.splice(0)) leave();
  }

  /** Offers the oldest held record again; returns how many bytes were taken, 0 if there is no room. */
  offerHeld(): number {
    const first = this.held[0];
    const bytes = first?.input.body.length ?? 0;
    if (first === undefined || !this.sink.options.hasRoom(bytes) || !this.submit(first, undefined)) return 0;
    this.held.shift();
    this.heldBytes -= bytes;
    return bytes;
  }

  /** Whether the stream must not be read for now. A peer that waits by itself has a limit of its own. */
  mustWait(): boolean {
    return !this.isPatient && this.sink.congestion.mustWait(this, this.pendingBytes);
  }

  /** It may be possible to read the stream again. */
  hearRoom(): void {
    this.events.onRoom();
  }

  hearDisk(): void {
    this.askForTurn();
  }

  private hasWork(): boolean {
    if (this.decoding !== undefined) return true;
    if (this.gathered.bytes === 0) return false;
    if (this.flying > 0 && !this.isEnding && this.gathered.bytes < gatherBytesMax) return false;
    return this.gathered.bytes <= smallPieceBytes || !this.sink.congestion.isDiskBusy(this);
  }

  private askForTurn(): void {
    if (this.hasWork()) this.sink.takeTurn(this, this.mayWait());
  }

  /** Whether the piece may wait for small pieces of other streams. */
  private mayWait(): boolean {
    const { lastSpeaker, origin, sink } = this;
    if (this.isEnding || !this.isShareable(this.gathered.bytes)) return false;
    return lastSpeaker === undefined || !sink.options.isFollowed(origin.workspace, lastSpeaker.runId);
  }

  private takeGathered(): void {
    const joined = this.gathered.take();
    if (joined === undefined) return;
    const { memory, start, end, isLent } = joined;
    const bytes = end - start;
    this.chunksJoined = joined.pieces;
    this.sink.counters.gatheredBytes -= bytes;
    const framesBefore = this.frames;
    if (this.isShareable(bytes)) this.share(memory.subarray(start, end));
    else {
      // A piece that waits in the gatherer came before this one.
      this.gatherer?.flush();
      const { source } = this;
      // The bytes of a large frame are put after the rest of it, wherever that lies.
      const isRoomy = isLent && source.pendingBytes <= start;
      const steps = isRoomy ? source.pushLent(memory, start, end) : source.pushInSteps(memory.subarray(start, end));
      this.decodeOn({ steps, memory: isLent ? memory : null });
      return;
    }
    this.framesTaken = this.frames - framesBefore;
    this.endPiece();
  }

  /** Decodes until there is a pause, which only large frames have. */
  private decodeOn(decoding: Decoding): void {
    const step = decoding.steps.next();
    this.decoding = step.done === true ? undefined : decoding;
    if (step.done !== true) return;
    this.take(step.value, toLent(decoding.memory));
    this.endPiece();
  }

  private endPiece(): void {
    if (!this.arriving.hold(this.source.pendingBytes)) this.events.onNoRoom();
    // If a record is on its way, its landing says so.
    if (this.flying === 0) this.events.onRoom();
    this.checkSettled();
  }

  /**
   * A worker with acks has records of its own, since it may have to wait for them. So has everybody while records wait
   * for room.
   */
  private isShareable(bytes: number): boolean {
    if (this.reports || this.isPatient || this.origin.isHeardOnly === true || this.sink.isCrowded()) return false;
    return bytes <= smallPieceBytes && this.frames > 0;
  }

  private share(piece: Uint8Array): void {
    this.gatherer ??= this.sink.gathererOf(this.origin);
    const { gatherer } = this;
    const chunk = this.source.pushShared(piece, gatherer.shared);
    if (chunk === null) return;
    const { decoded, firstFault, body } = chunk;
    const firstReported = this.hear(chunk);
    if (chunk.isEmpty) return;
    const outcomes = firstReported === undefined ? [] : toOutcomes(decoded, firstReported, firstFault);
    this.flying++;
    this.flyingBytes += body.length;
    gatherer.add(chunk, () => this.land(body.length, outcomes));
  }

  private take(chunk: StreamChunk | null, lent: Lent | null): void {
    const firstReported = chunk === null ? undefined : this.hear(chunk);
    if (chunk === null || chunk.isEmpty || this.origin.isHeardOnly) {
      giveBack(lent);
      return;
    }
    const { decoded, body, offset, currentRun, file } = chunk;
    const { workspace, transport, source, runOverride } = this.origin;
    const arrival = { workspace, transport, source, runOverride, imported: false };
    const receivedNs = this.sink.options.nowNs();
    const input = { kind: "xtrack_frames" as const, ...arrival, receivedNs, body, offset, currentRun, file };
    const outcomes = firstReported === undefined ? [] : toOutcomes(decoded, firstReported, 0);
    const { counters } = this.sink;
    counters.records++;
    counters.events += decoded.columns.length;
    const record = { input, decoded, outcomes, lent };
    const decodedFrames = toDecodedFrames(input, decoded);
    if (this.held.length === 0 && this.mayPass(body.length) && this.submit(record, decodedFrames)) return;
    if (this.sink.hold(this, record)) this.keep(record);
  }

  /** Whether a record may go ahead of those that wait: a quiet sender need not wait for busy ones. */
  private mayPass(bytes: number): boolean {
    const { sink } = this;
    return (!sink.isCrowded() && sink.options.hasRoom(bytes)) || this.quota.take(bytes);
  }

  /** Reports what was found. Returns the first event whose outcome is to be reported; undefined for none. */
  private hear({ decoded: { columns, faults }, firstEvent, firstFault }: StreamChunk): number | undefined {
    this.frames += columns.length - firstEvent;
    for (const { fault } of faults.slice(firstFault)) if (!noFrame.has(fault.code)) this.frames++;
    const wasReporting = this.reports;
    const askedAcks = findAsk(columns, "ack", firstEvent);
    if (askedAcks !== undefined) this.events.onAsk("ack");
    if (findAsk(columns, "command", firstEvent) !== undefined) this.events.onAsk("command");
    for (const speaker of findSpeakers(columns, firstEvent)) this.hearSpeaker(speaker);
    for (const ack of findLooseAcks(columns, firstEvent)) this.events.onAck(ack);
    if (!this.reports) return undefined;
    return wasReporting ? firstEvent : (askedAcks ?? firstEvent);
  }

  private hearSpeaker({ runId, wid }: Speaker): void {
    const { lastSpeaker } = this;
    if (lastSpeaker?.runId === runId && lastSpeaker.wid === wid) return;
    this.lastSpeaker = { runId, wid };
    const key = `${runId}\0${wid}`;
    if (this.speakers.has(key) || this.speakers.size >= speakersMax) return;
    this.speakers.add(key);
    const { workspace, runOverride } = this.origin;
    const keptAs = runOverride ?? this.sink.options.runOf(workspace, runId);
    this.sink.presence.enter(workspace, keptAs, wid);
    this.leave.push(() => this.sink.presence.leave(workspace, keptAs, wid));
    this.events.onWorker(keptAs, wid);
  }

  private keep({ input, outcomes, lent }: HeldRecord): void {
    this.held.push({ input, outcomes, lent });
    this.heldBytes += input.body.length;
  }

  /** False when there is no room. */
  private submit(record: HeldRecord, decoded: Decoded | undefined): boolean {
    const submitted = this.sink.submit(record.input, decoded);
    if (typeof submitted === "string") return false;
    const bytes = record.input.body.length;
    this.flying++;
    this.flyingBytes += bytes;
    // If the disk fails, both promises reject, and the record is held again.
    giveBackWhen(submitted.applied, record.lent);
    submitted.durable.then(
      () => this.land(bytes, record.outcomes),
      () => this.holdAgain(record),
    );
    return true;
  }

  private land(bytes: number, outcomes: readonly EventOutcome[]): void {
    this.flying--;
    this.flyingBytes -= bytes;
    if (outcomes.length > 0) this.events.onOutcomes(outcomes);
    this.askForTurn();
    this.events.onRoom();
    this.checkSettled();
  }

  private holdAgain(record: HeldRecord): void {
    const decoded = decodeXtrack(record.input);
    if (this.sink.hold(this, { ...record, decoded })) this.keep(record);
    this.land(record.input.body.length, []);
  }

  /** Resolves when nothing waits here or is on its way. */
  private settled(): Promise<void> {
    return new Promise((resolve) => {
      this.whenSettled = resolve;
      this.checkSettled();
    });
  }

  private checkSettled(): void {
    const isDecoded = this.gathered.bytes === 0 && this.decoding === undefined;
    const isSettled = this.flying === 0 && this.held.length === 0 && isDecoded;
    if (isSettled || this.isGivenUp) this.whenSettled?.();
  }

  private giveUp(): void {
    this.isGivenUp = true;
    this.checkSettled();
  }
}
