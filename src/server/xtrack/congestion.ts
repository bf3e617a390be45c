// How far the disk is behind with what workers send. Bytes wait here as they came: decoded, they would take several times
// as much. When all that wait use up their memory, workers are left unread for a while, also those that never asked
// to wait: a sender faster than the disk then meets a full socket, and nothing is lost. That ends when the disk gets no further.
// Then workers without acks are read on and lose events, because a full disk must not stop a training.

import type { IntakeCounters } from "./ports.ts";

/** Bytes of records on their way to the disk, beyond which nothing more is decoded for it: about two of its writes. */
export const flyingBytesMax: number = 16 * 1024 * 1024;
/** How long the disk may take for its next write before workers without acks are read on. */
const stallMs = 1000;
const lookMs = 250;
/** Near the limit, so that a pause is short: a sender's kernel takes what it sends in a few tens of milliseconds. */
const easedShare = 0.9;
/** A stream with less than this on its way is read whatever others do: ten thousand of them fit as well. */
const littleBytes = 4 * 1024;

/** A stream that waits for the disk. */
export interface Waiter {
  /** It may decode what it has. */
  hearDisk(): void;
  /** It may be read again. */
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
  /** When the disk last got on, or was first waited for. */
  private movedMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(counters: Readonly<IntakeCounters>, bytesMax: number) {
    this.counters = counters;
    this.bytesMax = bytesMax;
  }

  /** The disk has enough to write; the stream hears when it has not. */
  isDiskBusy(waiter: Waiter): boolean {
    if (this.counters.flyingBytes <= flyingBytesMax) return false;
    this.undecoded.add(waiter);
    return true;
  }

  /** A stream with so many bytes on their way is not to be read; it hears when it is again. */
  mustWait(waiter: Waiter, bytes: number): boolean {
    if (bytes <= littleBytes || !this.isOver()) return false;
    this.unread.add(waiter);
    return true;
  }

  /** Those who send much are left unread, so that little more can come. */
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

  /** Bytes are no longer on their way, or not to the disk. */
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
      // What has landed while this process itself stood still is heard of first.
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
