// Moves events from the outbox to the transport and hears what comes back. Connects again when the
// connection is gone, and sends everything unconfirmed again, numbers and times unchanged.

import { toBackOffMs } from "#emit/back-off.ts";
import { Framer } from "#wire/xtrack/frame.ts";
import type { Outbox } from "./outbox.ts";
import type { OpenTransport, Transport } from "./transport.ts";

export interface LinkOptions {
  readonly open: OpenTransport;
  readonly outbox: Outbox;
  /** Sent first on every connection: the API key. */
  readonly greeting: Uint8Array | null;
  /** Whether an ack or command is meant for this run and worker. */
  readonly onMessage: (type: string, meta: Fields, payload: Fields) => void;
  /** Called for a problem that a person should fix. */
  readonly onProblem?: (sentence: string) => void;
  /** A connection that is lost, or never was, is not tried again. */
  readonly triesOnce?: boolean;
}

export type Fields = { readonly [field: string]: unknown };

const chunkBytesMax = 64 * 1024;
const chunkWaitMs = 20;
const controlFramesMax = 1000;
const firstWaitMs = 100;
/** A connection that lasts this long, or on which the collector speaks, ends a series of failures. */
const steadyMs = 5000;
const quietAfterMs = 1000;
const resendAfterMs = 2000;
const stuckLookMs = 250;
/** How long bytes that the collector does not read may keep a finished process alive. */
const stuckMsMax = 5000;
const frameBytesMax = 16 * 1024 * 1024;

export class Link {
  /** The run_start frame, once there is one; sent again at the start of every later connection. */
  runStart: Uint8Array | null = null;
  private readonly options: LinkOptions;
  private transport: Transport | null = null;
  private framer = new Framer({ frameBytesMax });
  private isOpen = false;
  private isFull = false;
  private isDone = false;
  private isHeld = false;
  private isListening = false;
  private wasOpen = false;
  private hasHeard = false;
  private failures = 0;
  private openedAtMs = 0;
  private hasProblem = false;
  private control: Uint8Array[] = [];
  /** The number of events in the chunk that was gathered last. */
  private gathered = 0;
  private immediate: NodeJS.Immediate | null = null;
  private flushedAtMs = 0;
  private retry: NodeJS.Timeout | null = null;
  private stuck: NodeJS.Timeout | null = null;
  private onClosed: (() => void) | null = null;

  constructor(options: LinkOptions) {
    this.options = options;
    this.connect();
  }

  /** What this transport lets the other side send; decided before it is connected. */
  get accepts(): readonly ("ack" | "command")[] {
    return this.transport?.accepts ?? [];
  }

  get isConnected(): boolean {
    return this.isOpen;
  }

  /** The collector was not there when it was last tried. */
  get isAway(): boolean {
    return !this.isOpen && this.failures > 0;
  }

  /** There is something new in the outbox. Several events leave in one write, but none waits longer than a moment. */
  wake(): void {
    if (!this.isOpen || this.isFull) return;
    if (performance.now() - this.flushedAtMs > chunkWaitMs) this.flush();
    else
      this.immediate ??= setImmediate(() => {
        this.immediate = null;
        this.flush();
      });
  }

  /** The program wants to hear commands. */
  listen(): void {
    this.isListening = true;
    this.transport?.listen?.();
  }

  sendControl(frame: Uint8Array): void {
    if (this.control.length < controlFramesMax) this.control.push(frame);
    this.flush();
  }

  /** Writes what the transport takes now. */
  flush(): void {
    const { transport } = this;
    const { outbox } = this.options;
    if (transport === null || !this.isOpen || this.isFull) return;
    this.flushedAtMs = performance.now();
    for (let chunk = this.gather(transport); chunk !== null; chunk = this.gather(transport)) {
      if (transport.write(chunk)) continue;
      // A transport without acks does not ask to wait: its refusal is a failure.
      if (!transport.accepts.includes("ack")) outbox.noteFailed(this.gathered);
      this.isFull = true;
      break;
    }
    if (transport.pendingBytes > 0) this.watchStuck();
  }

  /**
   * Resolves with true when everything has arrived, as far as the collector tells, and with false when the time is up. Then
   * the link is closed, whatever the collector does. Never rejects.
   */
  async drain(timeoutMs: number): Promise<boolean> {
    const started = Date.now();
    let hasResent = false;
    this.setHeld(true);
    this.tryNow();
    this.flush();
    while (!this.isDelivered(started) && !this.isHopeless && Date.now() - started < timeoutMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      // A collector under pressure may give up acks; it will know the repeated events as duplicates.
      if (!hasResent && this.hasHeard && Date.now() - started > resendAfterMs) {
        hasResent = true;
        this.options.outbox.rewind();
      }
      this.flush();
    }
    const isDelivered = this.isDelivered(started);
    if (isDelivered) await this.close(Math.min(quietAfterMs, timeoutMs - (Date.now() - started)));
    this.destroy();
    return isDelivered;
  }

  /** Waiting longer does not help. */
  private get isHopeless(): boolean {
    return this.isDone || this.hasProblem;
  }

  private isDelivered(startedMs: number): boolean {
    const { outbox } = this.options;
    const hasLeft = this.isOpen && outbox.peek() === null && (this.transport?.pendingBytes ?? 0) === 0;
    if (!hasLeft) return false;
    // A collector that never confirms anything gets a moment, then we believe the socket.
    return outbox.isEmpty || (!this.hasHeard && Date.now() - startedMs > quietAfterMs);
  }

  /** Ends the connection cleanly, and waits for the collector to do the same. */
  private async close(timeoutMs: number): Promise<void> {
    this.isDone = true;
    const closed = new Promise<void>((resolve) => {
      this.onClosed = resolve;
    });
    this.transport?.end();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([closed, tooLong]);
    clearTimeout(timer);
  }

  /** Closes at once: bytes that the collector does not take would keep the process alive. */
  private destroy(): void {
    this.isDone = true;
    if (this.retry !== null) clearTimeout(this.retry);
    if (this.stuck !== null) clearInterval(this.stuck);
    this.setHeld(false);
    this.transport?.destroy();
  }

  /**
   * A pending write keeps the process alive, even on an unreferenced socket. When nothing else does, the program has come to
   * its end, and the collector gets a moment to read on before the connection is given up.
   */
  private watchStuck(): void {
    let looks = 0;
    this.stuck ??= setInterval(() => {
      const isWaiting = (this.transport?.pendingBytes ?? 0) > 0;
      looks = isWaiting && !this.isHeld && isOnlyWritingLeft() ? looks + 1 : 0;
      if (looks * stuckLookMs >= stuckMsMax) this.transport?.destroy();
      if (isWaiting && looks * stuckLookMs < stuckMsMax) return;
      if (this.stuck !== null) clearInterval(this.stuck);
      this.stuck = null;
    }, stuckLookMs).unref();
  }

  private connect(): void {
    this.retry = null;
    this.framer = new Framer({ frameBytesMax });
    this.isFull = false;
    const transport = this.options.open({
      onOpen: () => this.greet(),
      onRoom: () => {
        this.isFull = false;
        this.flush();
      },
      onBytes: (chunk) => this.hear(chunk),
      onClose: (problem) => this.lose(problem),
    });
    transport.hold(this.isHeld);
    this.transport = transport;
    if (this.isListening) transport.listen?.();
    if (transport.isReady) this.greet();
  }

  private greet(): void {
    const { outbox, greeting } = this.options;
    this.isOpen = true;
    this.hasProblem = false;
    this.openedAtMs = performance.now();
    if (greeting !== null) this.transport?.write(greeting);
    // The collector only answers those who ask, and run_start does.
    if (this.wasOpen && this.runStart !== null) this.transport?.write(this.runStart);
    this.wasOpen = true;
    outbox.rewind();
    this.flush();
  }

  private lose(problem: string | undefined): void {
    if (this.isOpen && performance.now() - this.openedAtMs > steadyMs) this.failures = 0;
    this.isOpen = false;
    this.hasProblem = problem !== undefined && !this.isDone;
    if (problem !== undefined && this.hasProblem) this.options.onProblem?.(problem);
    this.onClosed?.();
    if (this.options.triesOnce) this.isDone = true;
    if (this.isDone) return;
    this.retry = setTimeout(() => this.connect(), toBackOffMs(this.failures++, firstWaitMs));
    if (!this.isHeld) this.retry.unref();
  }

  /** A program that ends does not wait until the next try is due. */
  private tryNow(): void {
    if (this.retry === null) return;
    clearTimeout(this.retry);
    this.failures = 0;
    this.hasProblem = false;
    this.connect();
  }

  private setHeld(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.transport?.hold(isHeld);
    if (isHeld) this.retry?.ref();
    else this.retry?.unref();
  }

  private gather(transport: Transport): Uint8Array | null {
    const { outbox } = this.options;
    const isFinal = !transport.accepts.includes("ack");
    const parts: Uint8Array[] = this.control;
    this.control = [];
    this.gathered = 0;
    let size = parts.reduce((sum, part) => sum + part.length, 0);
    for (let frame = outbox.peek(); frame !== null; frame = outbox.peek()) {
      if (size > 0 && size + frame.length > chunkBytesMax) break;
      parts.push(frame);
      size += frame.length;
      outbox.sent(isFinal);
      this.gathered++;
    }
    return parts.length === 0 ? null : Buffer.concat(parts, size);
  }

  private hear(chunk: Uint8Array): void {
    const { framer } = this;
    this.failures = 0;
    framer.push(chunk);
    for (let step = framer.next(); step !== "wait" && step !== "end"; step = framer.next()) {
      if (step !== "frame") continue;
      try {
        const { frameStart, frameEnd, bytes } = framer;
        const text = Buffer.from(bytes.buffer, bytes.byteOffset + frameStart, frameEnd - frameStart).toString();
        const { t, m, p } = JSON.parse(text) as { t: unknown; m?: Fields; p?: Fields };
        if (t === "ack") this.hasHeard = true;
        if (typeof t === "string") this.options.onMessage(t, m ?? {}, p ?? {});
      } catch {
        // Not for us: an unreadable message costs nothing but itself.
      }
    }
  }
}

/** Standard streams are listed even if nobody waits for them. A wrong answer only costs a new connection. */
function isOnlyWritingLeft(): boolean {
  return process.getActiveResourcesInfo().every((name) => /WriteWrap|PipeWrap|TTYWrap/.test(name));
}
