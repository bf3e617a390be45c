// From connections to intake: every stream's frames become journal records, and its acks follow when they are durable.
//
// When the journal has no room, records are held here, up to a limit for all streams together, and offered again.
// Beyond the limit, records of peers that can wait are still held (and the peers no longer read); others are lost and
// counted, because not reading those peers would stop the training. A disk that is only slow loses nothing, see
// congestion.ts. While anything is held, everything new queues behind it, and the streams take turns, so that those who
// send much do not keep out those who send little.

import { ownArrival } from "#intake/input.ts";
import type { Decoded } from "#intake/input-kind.ts";
import type { Submitted } from "#intake/sequencer.ts";
import { frameInputs, type XtrackFramesInput } from "#intake/xtrack/frames-input.ts";
import { Congestion } from "./congestion.ts";
import { type FrameRecord, FrameStream, type RecordHolder } from "./frame-stream.ts";
import { Gatherer } from "./gatherer.ts";
import { LossLedger, toLossBody } from "./loss-ledger.ts";
import type { IntakeCounters, IntakeSinkOptions, StreamEvents, StreamOrigin } from "./ports.ts";
import { PresenceBook } from "./presence.ts";
import { Turns } from "./turns.ts";

const retryMs = 20;
/** After this many refusals the other waiting holders are tried next time. */
const failuresMax = 16;
const gatherersMax = 1000;

export class IntakeSink {
  readonly options: IntakeSinkOptions;
  readonly presence = new PresenceBook();
  readonly counters: IntakeCounters = {
    ...{ records: 0, events: 0, lost: 0 },
    ...{ gatheredBytes: 0, flyingBytes: 0, heldBytes: 0 },
  };
  readonly congestion: Congestion;
  private readonly open = new Set<FrameStream>();
  private readonly waiting = new Set<RecordHolder>();
  private readonly gatherers = new Map<string, Gatherer>();
  private readonly losses = new LossLedger();
  private readonly turns = new Turns();
  private timer: NodeJS.Timeout | undefined;

  constructor(options: IntakeSinkOptions) {
    this.options = options;
    this.congestion = new Congestion(this.counters, options.gatheredBytesMax);
  }

  openStream(origin: StreamOrigin, events: StreamEvents): FrameStream {
    const stream = new FrameStream(this, origin, events);
    this.open.add(stream);
    return stream;
  }

  leave(stream: FrameStream): void {
    this.open.delete(stream);
    this.waiting.delete(stream);
    this.congestion.leave(stream);
  }

  /** Offers a record to the journal, and counts its bytes until it is durable. */
  submit(input: XtrackFramesInput, decoded: Decoded | undefined): Submitted {
    const submitted = this.options.submit(input, decoded);
    if (typeof submitted === "string") return submitted;
    const { congestion, counters } = this;
    const bytes = input.body.length;
    counters.flyingBytes += bytes;
    submitted.durable.then(
      () => {
        counters.flyingBytes -= bytes;
        congestion.move();
        congestion.ease();
      },
      // The caller holds it again.
      () => {
        counters.flyingBytes -= bytes;
      },
    );
    return submitted;
  }

  /** Whether records wait for room in the journal: new ones queue behind them, and peers that can wait should. */
  isCrowded(): boolean {
    return this.waiting.size > 0;
  }

  /** The gatherer for small pieces of streams with this origin. */
  gathererOf(origin: StreamOrigin): Gatherer {
    const { workspace, transport, source, runOverride } = origin;
    const name = JSON.stringify([workspace, transport, source, runOverride]);
    const known = this.gatherers.get(name);
    if (known !== undefined) return known;
    // Streams keep the gatherer that they have; senders from ever new addresses must not fill the memory.
    if (this.gatherers.size >= gatherersMax) this.gatherers.clear();
    const gatherer = new Gatherer(this, origin);
    this.gatherers.set(name, gatherer);
    return gatherer;
  }

  /** Takes a record that the journal had no room for; false when it is lost. */
  hold(holder: RecordHolder, record: Pick<FrameRecord, "input" | "decoded">): boolean {
    const { congestion, counters, options } = this;
    const bytes = record.input.body.length;
    // What was read before the peers were paused has room as well.
    const bytesMax = congestion.isHeld ? 2 * options.heldBytesMax : options.heldBytesMax;
    if (!holder.isPatient && counters.heldBytes + bytes > bytesMax) {
      const { workspace, transport } = record.input;
      this.losses.add(workspace, transport, record.decoded.columns, options.nowNs());
      counters.lost += record.decoded.columns.length;
      this.wake();
      return false;
    }
    counters.heldBytes += bytes;
    this.waiting.add(holder);
    this.wake();
    return true;
  }

  /** Calls the stream's work in its turn. Streams with little work share a round. */
  takeTurn(stream: FrameStream, isLittle: boolean): void {
    if (isLittle) this.turns.addSmall(stream);
    else this.turns.add(stream);
  }

  private wake(): void {
    this.timer ??= setTimeout(() => this.retry(), retryMs);
    this.timer.unref();
  }

  close(): void {
    clearTimeout(this.timer);
    this.congestion.close();
  }

  private retry(): void {
    this.timer = undefined;
    const wasCrowded = this.isCrowded();
    let failures = 0;
    // One record of each holder at a time; the loop also visits holders that are added meanwhile.
    for (const holder of this.waiting) {
      const bytes = holder.offerHeld();
      // There may be room for a smaller record of another holder.
      if (bytes === 0 && holder.heldBytes > 0) {
        failures++;
        if (failures === failuresMax) break;
        continue;
      }
      this.counters.heldBytes -= bytes;
      this.waiting.delete(holder);
      if (holder.heldBytes > 0) this.waiting.add(holder);
    }
    this.congestion.ease();
    if (this.waiting.size > 0) this.wake();
    else if (wasCrowded) for (const stream of this.open) if (stream.isPatient) stream.hearRoom();
    if (this.waiting.size === 0) this.tellLosses();
    if (!this.losses.isEmpty) this.wake();
  }

  private tellLosses(): void {
    for (let loss = this.losses.take(); loss !== undefined; loss = this.losses.take()) {
      const told = loss;
      const submitted = this.options.submit({
        ...ownArrival(told.workspace),
        kind: frameInputs.kind,
        transport: told.transport,
        receivedNs: this.options.nowNs(),
        body: toLossBody(told),
        file: "",
        offset: 0,
        currentRun: told.runId === "" ? null : told.runId,
      });
      if (typeof submitted === "string") {
        this.losses.putBack(told);
        return;
      }
      submitted.durable.catch(() => {
        this.losses.putBack(told);
        this.wake();
      });
    }
  }
}
