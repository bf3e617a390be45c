// Small pieces of many streams in one journal record. A worker that sends a metric from time to time would make a
// record of each, with columns, a promise and a place in every queue behind it, which cost fifty times what the event
// does. So pieces that streams of one origin deliver while a record of theirs is on its way to the disk are put
// together, onto one set of columns; a note in the record says where each stream begins. A stream hears that its piece
// is durable as it would of a record of its own.

import { joinBytes } from "#base/join-bytes.ts";
import type { Submitted } from "#intake/sequencer.ts";
import { toDecodedFrames, type XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { EventColumns } from "#wire/xtrack/event-columns.ts";
import { encodeSwitch } from "#wire/xtrack/segments.ts";
import { decodeXtrack, type SharedEvents, type StreamChunk, type StreamSwitch } from "#wire/xtrack/stream.ts";
import type { RecordHolder } from "./frame-stream.ts";
import type { IntakeSink } from "./intake-sink.ts";
import type { StreamOrigin } from "./ports.ts";

interface Pending {
  readonly shared: SharedEvents;
  readonly parts: Uint8Array[];
  readonly switches: StreamSwitch[];
  /** Called when the record is durable, or lost. */
  readonly landings: (() => void)[];
  bytes: number;
}

interface Sent {
  readonly input: XtrackFramesInput;
  readonly landings: readonly (() => void)[];
}

/** A larger piece makes a record of its own. */
export const smallPieceBytes: number = 4 * 1024;
/** A record of this size does not wait for the one before it. */
const recordBytesMax = 256 * 1024;

export class Gatherer implements RecordHolder {
  readonly isPatient = false;
  heldBytes = 0;
  private readonly sink: IntakeSink;
  private readonly origin: StreamOrigin;
  private pending: Pending;
  private held: Sent[] = [];
  private flying = 0;
  private isAsked = false;

  constructor(sink: IntakeSink, origin: StreamOrigin) {
    this.sink = sink;
    this.origin = origin;
    this.pending = createPending();
  }

  /** Where the next small piece is decoded to; `add` must follow before anything else. */
  get shared(): SharedEvents {
    return this.pending.shared;
  }

  /** A piece that has just been decoded to `shared`. `onLanded` is called when it is durable, or lost. */
  add({ body, offset, currentRun, firstEvent }: StreamChunk, onLanded: () => void): void {
    const { pending } = this;
    const note = encodeSwitch({ offset, currentRun });
    pending.switches.push({ offset, currentRun, event: firstEvent, at: pending.bytes + note.length });
    pending.parts.push(note, body);
    pending.bytes += note.length + body.length;
    pending.landings.push(onLanded);
    if (pending.bytes >= recordBytesMax) this.flush();
    else this.ask();
  }

  /** Submits what waits here, so that a record that follows comes after it. */
  flush(): void {
    const { pending, sink } = this;
    if (pending.landings.length === 0) return;
    this.pending = createPending(pending.shared.columns);
    const { workspace, transport, source, runOverride } = this.origin;
    const arrival = { workspace, transport, source, runOverride, imported: false, receivedNs: sink.options.nowNs() };
    const body = joinBytes(pending.parts);
    const input = { kind: "xtrack_frames" as const, ...arrival, body, offset: 0, currentRun: null, file: "" };
    const { counters } = sink;
    counters.records++;
    counters.events += pending.shared.columns.length;
    const sent = { input, landings: pending.landings };
    const decoded = { ...pending.shared, switches: pending.switches };
    if (this.held.length === 0 && this.submit(sent, sink.submit(input, toDecodedFrames(input, decoded)))) return;
    this.hold(sent, pending.shared);
  }

  offerHeld(): number {
    const first = this.held[0];
    if (first === undefined || !this.submit(first, this.sink.submit(first.input, undefined))) return 0;
    this.held.shift();
    const bytes = first.input.body.length;
    this.heldBytes -= bytes;
    return bytes;
  }

  /** Waits for the next turn of the event loop: by then every stream that was read is decoded. */
  private ask(): void {
    if (this.isAsked || this.flying > 0) return;
    this.isAsked = true;
    setImmediate(() => {
      this.isAsked = false;
      if (this.flying === 0) this.flush();
    });
  }

  /** False when there is no room. */
  private submit(sent: Sent, submitted: Submitted): boolean {
    if (typeof submitted === "string") return false;
    this.flying++;
    submitted.durable.then(
      () => this.land(sent.landings),
      () => {
        this.hold(sent, decodeXtrack(sent.input) as SharedEvents);
        this.land([]);
      },
    );
    return true;
  }

  private hold(sent: Sent, decoded: SharedEvents): void {
    if (this.sink.hold(this, { input: sent.input, decoded })) {
      this.held.push(sent);
      this.heldBytes += sent.input.body.length;
    } else for (const land of sent.landings) land();
  }

  private land(landings: readonly (() => void)[]): void {
    this.flying--;
    for (const land of landings) land();
    if (this.pending.landings.length > 0) this.ask();
  }
}

function createPending(before?: EventColumns): Pending {
  return {
    shared: { columns: new EventColumns(before), faults: [] },
    parts: [],
    switches: [],
    landings: [],
    bytes: 0,
  };
}
