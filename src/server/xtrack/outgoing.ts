// What goes out to one worker: acks and commands, as whole frames, in as few writes as there are commits. If the peer
// stops reading, that costs the backlog limit and a list of ranges; nobody waits for it.

import type { OutgoingCommand } from "#control/control.ts";
import type { RunId, WorkerId } from "#model/names.ts";
import { AckQueue } from "./ack-queue.ts";
import type { EventOutcome } from "./ports.ts";

/** The sending half of a connection. */
export interface OutgoingWire {
  /** Writes once; `done` is told whether the bytes have left. */
  write(bytes: Uint8Array, done: (isGone: boolean) => void): void;
  /** Bytes given to `write` that have not left. */
  bufferedBytes(): number;
}

export interface OutgoingLimits {
  /** No more than this is given to the wire and unsent, apart from the last frame. */
  readonly backlogBytesMax: number;
  readonly ackRangesMax: number;
  readonly commandsMax: number;
}

export interface OutgoingCounters {
  acksSent: number;
  /** Dropped because too many waited for a worker that does not read. */
  acksDropped: number;
  commandsSent: number;
}

export const outgoingLimitsDefault: OutgoingLimits = {
  backlogBytesMax: 256 * 1024,
  ackRangesMax: 4096,
  commandsMax: 64,
};

const writeBytesMax = 64 * 1024;

interface WaitingCommand extends OutgoingCommand {
  readonly runId: RunId;
  readonly wid: WorkerId;
  readonly settle: (isGone: boolean) => void;
}

export class Outgoing {
  private readonly wire: OutgoingWire;
  private readonly limits: OutgoingLimits;
  private readonly counters: OutgoingCounters;
  private readonly nowUs: () => number;
  private readonly acks: AckQueue;
  private commands: WaitingCommand[] = [];
  private nextSeq = 1;
  private isClosed = false;
  private whenIdle: (() => void)[] = [];

  constructor(wire: OutgoingWire, limits: OutgoingLimits, counters: OutgoingCounters, nowUs: () => number) {
    this.wire = wire;
    this.limits = limits;
    this.counters = counters;
    this.nowUs = nowUs;
    this.acks = new AckQueue(limits.ackRangesMax);
  }

  sendAcks(outcomes: readonly EventOutcome[]): void {
    if (this.isClosed) return;
    for (const outcome of outcomes) if (!this.acks.push(outcome)) this.counters.acksDropped++;
    this.flush();
  }

  sendCommand(command: OutgoingCommand, runId: RunId, wid: WorkerId): Promise<boolean> {
    if (this.isClosed || this.commands.length >= this.limits.commandsMax) return Promise.resolve(false);
    return new Promise((settle) => {
      this.commands.push({ ...command, runId, wid, settle });
      this.flush();
    });
  }

  private flush(): void {
    while (!this.isClosed && this.wire.bufferedBytes() < this.limits.backlogBytesMax) {
      const command = this.commands.shift();
      if (command !== undefined) this.writeCommand(command);
      else if (this.acks.isEmpty) break;
      else this.writeAcks();
    }
    if (this.isIdle()) for (const resolve of this.whenIdle.splice(0)) resolve();
  }

  /** Resolves when everything has left, or was given up. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.whenIdle.push(resolve));
  }

  /** The peer is gone. */
  close(): void {
    this.isClosed = true;
    for (const { settle } of this.commands.splice(0)) settle(false);
    for (const resolve of this.whenIdle.splice(0)) resolve();
  }

  private isIdle(): boolean {
    return this.isClosed || (this.acks.isEmpty && this.commands.length === 0 && this.wire.bufferedBytes() === 0);
  }

  private writeAcks(): void {
    const { bytes, count } = this.acks.take(writeBytesMax, this.nextSeq, this.nowUs());
    this.nextSeq += count;
    this.counters.acksSent += count;
    this.wire.write(bytes, () => this.flush());
  }

  private writeCommand({ cmdId, type, payload, runId, wid, settle }: WaitingCommand): void {
    const worker = wid === "" ? "" : `,"wid":${JSON.stringify(wid)}`;
    const named = `"run_id":${JSON.stringify(runId)}${worker}`;
    const json =
      `{"v":1,"t":"command","m":{"seq":${this.nextSeq++},"ts":${this.nowUs()}},` +
      `"p":{"cmd_id":${JSON.stringify(cmdId)},"type":"${type}","payload":${payload},${named}}}`;
    const frame = Buffer.allocUnsafe(4 + Buffer.byteLength(json));
    frame.writeUInt32BE(frame.length - 4);
    frame.write(json, 4);
    this.counters.commandsSent++;
    this.wire.write(frame, (isGone) => {
      settle(isGone);
      this.flush();
    });
  }
}
