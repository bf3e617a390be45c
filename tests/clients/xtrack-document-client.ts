// A worker written from the XTrack protocol document alone: it shares no code with the collector, so that both read
// the document for themselves. The one thing that is not in the document is `accepts` in run_start, which asks
// Tributary for the bidirectional events that the document calls optional.

import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface Envelope {
  readonly v: number;
  readonly t: string;
  readonly m: { readonly seq: number; readonly ts: number; readonly wid?: string };
  readonly p: { readonly [field: string]: unknown };
}

export type Address = { readonly host: string; readonly port: number } | { readonly path: string };

/** 4 bytes of big-endian length, then the JSON without a newline. */
export function encode(envelope: object): Buffer {
  const json = Buffer.from(JSON.stringify(envelope), "utf8");
  const frame = Buffer.alloc(4 + json.length);
  frame.writeUInt32BE(json.length, 0);
  json.copy(frame, 4);
  return frame;
}

/** Reads 4 bytes for the length, then that many for the payload, and waits when there are fewer. */
export class FrameReader {
  private held = Buffer.alloc(0);

  push(chunk: Buffer): Envelope[] {
    this.held = Buffer.concat([this.held, chunk]);
    const found: Envelope[] = [];
    while (this.held.length >= 4) {
      const length = this.held.readUInt32BE(0);
      if (this.held.length < 4 + length) break;
      found.push(JSON.parse(this.held.toString("utf8", 4, 4 + length)));
      this.held = this.held.subarray(4 + length);
    }
    return found;
  }
}

export interface DocumentClientOptions {
  readonly runId: string;
  readonly wid?: string;
  readonly accepts?: readonly string[];
  /** Where to go on counting after a reconnect. */
  readonly firstSeq?: number;
}

export class DocumentClient<Line extends Duplex = Socket> {
  readonly received: Envelope[] = [];
  readonly sent: Envelope[] = [];
  readonly socket: Line;
  private readonly options: DocumentClientOptions;
  private readonly reader = new FrameReader();
  private seq: number;
  private wake: (() => void)[] = [];

  /** Over a line that is open: a socket, or anything else that carries bytes both ways. */
  constructor(socket: Line, options: DocumentClientOptions) {
    this.socket = socket;
    this.options = options;
    this.seq = options.firstSeq ?? 1;
    socket.on("data", (chunk: Buffer) => {
      this.received.push(...this.reader.push(chunk));
      this.wakeAll();
    });
    socket.on("close", () => this.wakeAll());
    socket.on("error", () => this.wakeAll());
  }

  static connect(address: Address, options: DocumentClientOptions): Promise<DocumentClient> {
    return new Promise((resolve, reject) => {
      const socket = "path" in address ? connect(address.path) : connect(address.port, address.host);
      socket.once("error", reject);
      socket.once("connect", () => {
        socket.off("error", reject);
        resolve(new DocumentClient(socket, options));
      });
    });
  }

  get nextSeq(): number {
    return this.seq;
  }

  /** An event with the next sequence number and the time in microseconds; not sent yet. */
  toEvent(type: string, payload: object): Envelope {
    const { wid } = this.options;
    const m = { seq: this.seq++, ts: Math.round((performance.timeOrigin + performance.now()) * 1000) };
    return { v: 1, t: type, m: wid === undefined ? m : { ...m, wid }, p: { ...payload } };
  }

  send(event: Envelope): Envelope {
    this.sent.push(event);
    this.socket.write(encode(event));
    return event;
  }

  emit(type: string, payload: object = {}): Envelope {
    return this.send(this.toEvent(type, { run_id: this.options.runId, ...payload }));
  }

  runStart(payload: object = {}): Envelope {
    const { runId, accepts } = this.options;
    const asks = accepts === undefined ? {} : { accepts };
    return this.emit("run_start", { run_id: { id: runId, exp_id: "exp-1", parent_id: null }, ...asks, ...payload });
  }

  metric(key: string, value: number, step: number): Envelope {
    return this.emit("metric", { key, value, step });
  }

  runEnd(status = "completed"): Envelope {
    return this.emit("run_end", { status });
  }

  /** Answers a command. */
  confirm(cmdId: unknown, status: "ok" | "error" = "ok", error?: string): Envelope {
    return this.emit("ack", { seq: 0, cmd_id: cmdId, status, ...(error === undefined ? {} : { error }) });
  }

  get acks(): Envelope[] {
    return this.received.filter(({ t }) => t === "ack");
  }

  get commands(): Envelope[] {
    return this.received.filter(({ t }) => t === "command");
  }

  /** Waits until something holds, or throws after some seconds. */
  async until(holds: () => boolean, what = "the collector's answer"): Promise<void> {
    const deadlineMs = Date.now() + 8000;
    while (!holds()) {
      if (Date.now() > deadlineMs) throw new Error(`${what} did not come; got ${this.received.length} frames`);
      await new Promise<void>((resolve) => {
        this.wake.push(resolve);
        setTimeout(resolve, 50);
      });
    }
  }

  /** Ends our side and waits until the collector has ended its own. */
  async end(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.socket.once("close", () => resolve()));
    this.socket.end();
    if (!this.socket.destroyed) await closed;
  }

  private wakeAll(): void {
    for (const resolve of this.wake.splice(0)) resolve();
  }
}
