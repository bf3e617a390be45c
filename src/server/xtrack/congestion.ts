// How far the disk is behind with what workers send. Bytes wait here as they came: decoded, they would take several
// times as much. When the waiting bytes exceed their budget, workers are not read for a while, even those that never
// asked to wait: a sender faster than the disk then meets a full socket, and nothing is lost. If the disk makes no
// progress, this ends: workers without acks are read again and lose events, because a full disk must not stop a
// training.

import type { IntakeCounters } from "./ports.ts";

/** When more bytes than this are on their way to the disk, nothing more is decoded for it: about two of its writes. */
export const flyingBytesMax: number = 16 * 1024 * 1024;
/** How long the disk may make no progress before workers without acks are read again. */
const stallMs = 1000;
const lookMs = 250;
/**
 * Close to the limit, so that pauses are short: the kernel buffers only some tens of milliseconds of what a worker
 * sends.
 */
const easedShare = 0.9;
/** A stream with less than this pending is always read: even ten thousand of them fit. */
const littleBytes = 4 * 1024;

/** A stream that waits for the disk. */
export interface Waiter {
  hearDisk(): void;
  hearRoom(): void;
}

export class Congestion {
  private readonly counters: Readonly<IntakeCounters>;
  private readonly bytesMax: number;
  /** Streams that have something to decode. */
  private readonly undecoded = new Set<Waiter>();
  /** Streams that are not read. */
  private readonly unread = new Set<Waiter>();
  private isFull = false;
  private isStalled = false;
  /** When the disk last made progress, or was first waited for. */
  private movedMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(counters: Readonly<IntakeCounters>, bytesMax: number) {
    this.counters = counters;
    this.bytesMax = bytesMax;
  }

  /** Whether the disk has enough to write. If so, `hearDisk` is called when it has not. */
  isDiskBusy(waiter: Waiter): boolean {
    if (this.counters.flyingBytes <= flyingBytesMax) return false;
    this.undecoded.add(waiter);
    return true;
  }

  /** Whether a stream with this many pending bytes must not be read. If so, `hearRoom` is called when it may be. */
  mustWait(waiter: Waiter, bytes: number): boolean {
    if (bytes <= littleBytes || !this.isOver()) return false;
    this.unread.add(waiter);
    return true;
  }

  /** Whether streams that send much are not read, so that little more can come. */
  get isHeld(): boolean {
    return this.isFull && !this.isStalled;
  }

  leave(waiter: Waiter): void {
    this.undecoded.delete(waiter);
    this.unread.delete(waiter);
  }

  /** A record is durable. */
  move(): void {
    this.isStalled = false;
    this.movedMs = performance.now();
  }

  /** Pending bytes have become fewer. */
  ease(): void {
    if (this.undecoded.size > 0 && this.counters.flyingBytes <= flyingBytesMax) {
      const waiters = [...this.undecoded];
      this.undecoded.clear();
      for (const waiter of waiters) waiter.hearDisk();
    }
    if (this.isFull && this.waitingBytes <= this.bytesMax * easedShare) this.clear();
  }

  close(): void {
    clearInterval(this.timer);
  }

  private get waitingBytes(): number {
    const { gatheredBytes, flyingBytes, heldBytes } = this.counters;
    return gatheredBytes + flyingBytes + heldBytes;
  }

  private isOver(): boolean {
    if (!this.isFull && this.waitingBytes > this.bytesMax) {
      this.isFull = true;
      this.movedMs = performance.now();
      // Writes that ended while this process stood still are noticed first.
      this.timer = setInterval(() => setImmediate(() => this.look()), lookMs).unref();
    }
    return this.isHeld;
  }

  private look(): void {
    if (!this.isFull || performance.now() - this.movedMs < stallMs) return;
    this.isStalled = true;
    this.readOn();
  }

  private clear(): void {
    this.isFull = false;
    clearInterval(this.timer);
    this.readOn();
  }

  private readOn(): void {
    const waiters = [...this.unread];
    this.unread.clear();
    for (const waiter of waiters) waiter.hearRoom();
  }
}
