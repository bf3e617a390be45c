// One worker's connection, whatever carries it. The job comes first: a connection is never closed for what it says. A
// worker that asked for acks knows how to wait; any other waits only for a disk that makes progress. A client that
// speaks HTTP gets an answer that says so.

import type { RunId, WorkerId } from "#model/names.ts";
import type { FrameStream } from "./frame-stream.ts";
import type { IntakeSink } from "./intake-sink.ts";
import { Outgoing, type OutgoingCounters, type OutgoingLimits, type OutgoingWire } from "./outgoing.ts";
import type { Admission, CommandDesk, EventOutcome, Gate, StreamEnd, Transport } from "./ports.ts";
import { type Sniffed, Sniffer } from "./sniff.ts";

export interface ConnectionRules {
  /** If a client never reads what it is sent, the end of its connection may lose its last events. */
  readonly acks: "asked" | "always" | "never";
  /** How long the first whole frame may take. There is no timeout after it. */
  readonly firstFrameTimeoutMs: number;
  /** A connection with acks is not read while it has more than this pending. */
  readonly pendingBytesMax: number;
  readonly outgoing: OutgoingLimits;
}

/** What all connections of a door share. */
export interface DoorParts {
  readonly rules: ConnectionRules;
  readonly ports: ConnectionPorts;
  readonly counters: ConnectionCounters;
}

export interface ConnectionPorts {
  readonly sink: Pick<IntakeSink, "openStream" | "isCrowded">;
  readonly gate: Gate;
  readonly desk: CommandDesk;
  readonly nowUs: () => number;
  /** Reports a refused connection and its address. */
  readonly onRefused?: ((reason: RefusedReason, address: string) => void) | undefined;
  /** Calls back when the key of an admission is revoked, until the returned function is called. */
  readonly watchSource?: ((source: string, onGone: () => void) => () => void) | undefined;
}

export type RefusedReason = "xtrack_key_missing" | "xtrack_key_wrong" | "xtrack_memory";

/** What carries the connection. */
export interface Carrier extends OutgoingWire {
  readonly transport: Transport;
  readonly address: string;
  readonly runOverride: string | null;
  readonly isHeardOnly?: boolean;
  pause(): void;
  resume(): void;
  /** Set if bytes can be left in the kernel while the carrier is paused, and be read in one go. */
  readonly sips?: Sips | undefined;
  /** Ends it once everything written has left. */
  finish(): void;
  /** Ends it now. */
  destroy(): void;
}

export interface Sips {
  /** Starts to read what the kernel has, once. */
  begin(): void;
  /** Takes what was read by now. */
  end(): void;
}

export interface ConnectionCounters extends OutgoingCounters {
  accepted: number;
  open: number;
  /** Without the key they need: drained, counted, not closed. */
  unauthorized: number;
  unauthorizedBytes: number;
  /** Closed because no whole frame came in time. */
  timedOut: number;
  /** Refused because too many were open. */
  overLimit: number;
  /** Ended by a reset instead of an end of stream. */
  resets: number;
  bytes: number;
  /** How often the server stopped reading a connection. */
  pauses: number;
}

export function createConnectionCounters(): ConnectionCounters {
  return {
    ...{ accepted: 0, open: 0, unauthorized: 0, unauthorizedBytes: 0, timedOut: 0, overLimit: 0 },
    ...{ resets: 0, bytes: 0, pauses: 0, acksSent: 0, acksDropped: 0, commandsSent: 0 },
  };
}

/** How long the last acks may take to leave. */
const lastAcksMs: { readonly [how in StreamEnd]: number } = { eof: 5000, reset: 0, shutdown: 1000 };

export interface ConnectionInfo {
  readonly id: number;
  readonly transport: Transport;
  readonly peer: string;
  /** The first run that sent something; null before that. */
  readonly runId: RunId | null;
  readonly wid: WorkerId;
  readonly sinceUs: number;
  readonly frames: number;
  readonly bytes: number;
  readonly takesCommands: boolean;
}

const crowdedPendingBytesMax = 16 * 1024;

const httpRequestLine = /^[A-Z]+ \S+ HTTP\/1\.[01]\r?$/;
const httpSentence =
  "This is Tributary's port for XTrack frames. HTTP is answered on another one, 7077 unless set otherwise.\n";
const httpAnswer: Uint8Array = Buffer.from(
  `HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: ${httpSentence.length}\r\n` +
    `Connection: close\r\n\r\n${httpSentence}`,
);

let lastId = 0;

export class Connection {
  private readonly id = ++lastId;
  private readonly sinceUs: number;
  private bytes = 0;
  private readonly carrier: Carrier;
  private readonly ports: ConnectionPorts;
  private readonly rules: ConnectionRules;
  private readonly counters: ConnectionCounters;
  private readonly outgoing: Outgoing;
  private sniffer: Sniffer | null = new Sniffer();
  /** Null until the first bytes are understood; stays null if the key is missing. */
  private stream: FrameStream | null = null;
  private admission: Admission | null = null;
  private firstFrameTimer: NodeJS.Timeout | undefined;
  private isPaused = false;
  /** It is read only when a round of its stream begins. */
  private isResting = false;
  private takesCommands: boolean;
  private readonly workers: { readonly runId: RunId; readonly wid: WorkerId }[] = [];
  private readonly detachers: (() => void)[] = [];
  private ending: Promise<void> | null = null;

  constructor(carrier: Carrier, ports: ConnectionPorts, rules: ConnectionRules, counters: ConnectionCounters) {
    this.carrier = carrier;
    this.ports = ports;
    this.rules = rules;
    this.counters = counters;
    this.takesCommands = rules.acks === "always";
    this.sinceUs = ports.nowUs();
    this.outgoing = new Outgoing(carrier, rules.outgoing, counters, ports.nowUs);
    counters.accepted++;
    counters.open++;
    this.firstFrameTimer = setTimeout(() => setImmediate(() => this.giveUp()), rules.firstFrameTimeoutMs);
    this.firstFrameTimer.unref();
  }

  receive(chunk: Uint8Array): void {
    if (this.ending !== null) return;
    this.counters.bytes += chunk.length;
    this.bytes += chunk.length;
    if (this.sniffer === null) {
      this.pass(chunk);
      return;
    }
    const sniffed = this.sniffer.push(chunk);
    if (sniffed !== undefined) this.admit(sniffed);
  }

  info(): ConnectionInfo {
    const { id, sinceUs, bytes, takesCommands } = this;
    const { transport, address: peer } = this.carrier;
    const [first] = this.workers;
    const who = { runId: first?.runId ?? null, wid: first?.wid ?? "" };
    return { id, transport, peer, ...who, sinceUs, frames: this.stream?.frames ?? 0, bytes, takesCommands };
  }

  /** The peer has ended or is gone, or the server shuts down. Resolves when nothing is left to do. */
  finish(how: StreamEnd): Promise<void> {
    if (how === "reset") this.outgoing.close();
    this.ending ??= this.wind(how);
    return this.ending;
  }

  // Timers run before sockets are read. After a stall of this process the frame may already be in the kernel, so the
  // sockets are read once more before a worker is blamed.
  private giveUp(): void {
    const hasFrame = this.stream !== null && this.stream.frames > 0;
    if (hasFrame || this.firstFrameTimer === undefined || this.ending !== null) return;
    this.counters.timedOut++;
    this.carrier.destroy();
  }

  /** The part of the frame that arrived is kept as torn; a worker with acks sends it again. */
  private turnAway(): void {
    if (this.ending !== null) return;
    this.ports.onRefused?.("xtrack_memory", this.carrier.address);
    this.carrier.destroy();
  }

  private startedWell(): void {
    clearTimeout(this.firstFrameTimer);
    this.firstFrameTimer = undefined;
  }

  private admit({ key, rest }: Sniffed): void {
    const { carrier, ports, rules } = this;
    this.sniffer = null;
    if (httpRequestLine.test(key)) {
      this.startedWell();
      carrier.write(httpAnswer, () => carrier.finish());
      return;
    }
    this.admission = ports.gate.admit(key, carrier.address, carrier.transport);
    if (this.admission === null) {
      this.counters.unauthorized++;
      ports.onRefused?.(key === "" ? "xtrack_key_missing" : "xtrack_key_wrong", carrier.address);
      this.startedWell();
    } else {
      const { transport, address: peer, runOverride, isHeardOnly } = carrier;
      this.stream = ports.sink.openStream(
        { transport, peer, ...this.admission, runOverride, ...(isHeardOnly ? { isHeardOnly } : {}) },
        {
          onAsk: (what) => this.hearAsk(what),
          onWorker: (runId, wid) => this.hearWorker(runId, wid),
          onOutcomes: (outcomes) => this.answer(outcomes),
          onAck: (ack) => ports.desk.hearAck((this.admission as Admission).workspace, ack),
          onRoom: () => this.readOn(),
          onNoRoom: () => this.turnAway(),
          onRest: () => this.rest(),
          onWake: () => this.carrier.sips?.begin(),
          onCollect: () => this.carrier.sips?.end(),
          onRise: () => this.rise(),
        },
      );
      const unwatch = ports.watchSource?.(this.admission.source, () => carrier.destroy());
      if (unwatch !== undefined) this.detachers.push(unwatch);
      if (rules.acks === "always") this.startAcks();
    }
    if (rest.length > 0) this.pass(rest);
  }

  private pass(chunk: Uint8Array): void {
    const { stream, counters } = this;
    if (stream === null) {
      counters.unauthorizedBytes += chunk.length;
      return;
    }
    stream.push(chunk);
    if (this.firstFrameTimer !== undefined && stream.frames > 0) this.startedWell();
    if (this.isPaused) return;
    if (stream.isPatient ? stream.pendingBytes <= this.pendingBytesMax : !stream.mustWait()) return;
    this.isPaused = true;
    counters.pauses++;
    this.carrier.pause();
  }

  /** While records wait for room, connections with little pending are still read: their records go first. */
  private get pendingBytesMax(): number {
    return this.ports.sink.isCrowded() ? crowdedPendingBytesMax : this.rules.pendingBytesMax;
  }

  private readOn(): void {
    const { stream } = this;
    if (!this.isPaused || stream === null || this.ending !== null) return;
    if (stream.isPatient ? stream.pendingBytes > this.pendingBytesMax / 2 : stream.mustWait()) return;
    this.isPaused = false;
    if (!this.isResting) this.carrier.resume();
  }

  private rest(): boolean {
    if (this.carrier.sips === undefined || this.isPaused || this.ending !== null) return false;
    if (!this.isResting) this.carrier.pause();
    this.isResting = true;
    return true;
  }

  /** Reads the connection again if it rests. */
  rise(): void {
    if (!this.isResting) return;
    this.isResting = false;
    if (!this.isPaused) this.carrier.resume();
  }

  private hearAsk(what: "ack" | "command"): void {
    if (this.rules.acks === "never") return;
    if (what === "ack") this.startAcks();
    else if (!this.takesCommands) {
      this.takesCommands = true;
      for (const { runId, wid } of this.workers) this.attach(runId, wid);
    }
  }

  private startAcks(): void {
    if (this.stream === null) return;
    this.stream.reports = true;
    this.stream.isPatient = true;
  }

  private hearWorker(runId: RunId, wid: WorkerId): void {
    this.workers.push({ runId, wid });
    if (this.takesCommands) this.attach(runId, wid);
  }

  private attach(runId: RunId, wid: WorkerId): void {
    const { workspace } = this.admission as Admission;
    const send = (command: Parameters<Outgoing["sendCommand"]>[0]) => this.outgoing.sendCommand(command, runId, wid);
    this.detachers.push(this.ports.desk.attach(workspace, runId, wid, { send }));
  }

  private answer(outcomes: readonly EventOutcome[]): void {
    this.outgoing.sendAcks(outcomes);
    this.readOn();
  }

  private async wind(how: StreamEnd): Promise<void> {
    clearTimeout(this.firstFrameTimer);
    if (how === "reset") this.counters.resets++;
    for (const detach of this.detachers.splice(0)) detach();
    if (this.sniffer !== null) {
      const left = this.sniffer.finish();
      if (left.rest.length > 0) this.admit(left);
    }
    // The end of our stream follows the last sync. It proves nothing to the worker: the kernel ends the streams of a
    // killed process likewise.
    await this.stream?.end(how);
    const tooLong = setTimeout(() => this.outgoing.close(), lastAcksMs[how]);
    await this.outgoing.idle();
    clearTimeout(tooLong);
    this.outgoing.close();
    this.counters.open--;
    this.carrier.finish();
  }
}
