// Events on their way: in order of their sequence numbers, each kept until it was confirmed (where the
// collector confirms) or handed over (where it cannot). Bounded in bytes; what is given up is counted.

import { firstPlace } from "#base/first-place.ts";

export interface OutboxCounts {
  /** Events that were never sent because the buffer was full. */
  readonly dropped: number;
  /** Sent events that were forgotten before the collector confirmed them. */
  readonly unconfirmed: number;
  /** Events the collector answered with an error. */
  readonly refused: number;
  readonly confirmed: number;
  readonly waitingEvents: number;
  readonly waitingBytes: number;
}

export interface Unsent {
  readonly seq: number;
  readonly frame: Uint8Array;
}

export type DropPolicy = "oldest" | "newest";

interface Entry {
  readonly seq: number;
  readonly isDroppable: boolean;
  /** Null once confirmed, sent for good, or dropped. */
  frame: Uint8Array | null;
  isSent: boolean;
}

export class Outbox {
  confirmed = 0;
  private readonly bytesMax: number;
  private readonly policy: DropPolicy;
  private entries: Entry[] = [];
  private head = 0;
  private cursor = 0;
  private sentFrom = 0;
  private sentEnd = 0;
  private dropFrom = 0;
  private bytes = 0;
  private live = 0;
  private dropped = 0;
  private unconfirmed = 0;
  private refused = 0;

  constructor(bytesMax: number, policy: DropPolicy) {
    this.bytesMax = bytesMax;
    this.policy = policy;
  }

  get counts(): OutboxCounts {
    const { dropped, unconfirmed, refused, confirmed, live, bytes } = this;
    return { dropped, unconfirmed, refused, confirmed, waitingEvents: live, waitingBytes: bytes };
  }

  get isEmpty(): boolean {
    return this.live === 0;
  }

  /** Sequence numbers grow from push to push. Metrics, logs and status are droppable; the rest only when nothing else is left. */
  push(seq: number, frame: Uint8Array, isDroppable: boolean): void {
    const size = frame.length;
    if (this.bytes + size > this.bytesMax) this.makeRoom(size, isDroppable);
    if (this.bytes + size > this.bytesMax) {
      this.dropped++;
      return;
    }
    this.entries.push({ seq, frame, isDroppable, isSent: false });
    this.bytes += size;
    this.live++;
  }

  /** The next frame that was not sent on this connection, or null. */
  peek(): Uint8Array | null {
    while (this.cursor < this.entries.length) {
      const frame = this.entries[this.cursor]?.frame ?? null;
      if (frame !== null) return frame;
      this.cursor++;
    }
    return null;
  }

  /** The frame of `peek` is on its way; `isFinal` when nobody will confirm it. */
  sent(isFinal: boolean): void {
    const entry = this.entries[this.cursor++] as Entry;
    if (this.cursor > this.sentEnd) this.sentEnd = this.cursor;
    entry.isSent = true;
    if (isFinal) this.release(entry);
    this.compact();
  }

  /** After a reconnect everything unconfirmed is sent again, with its old numbers and times. */
  rewind(): void {
    this.cursor = this.head;
  }

  /** The write failed for events that were handed over to a transport without acks. */
  noteFailed(count: number): void {
    this.unconfirmed += count;
  }

  /** Removes and returns everything that was not confirmed. */
  takeRest(): Unsent[] {
    const rest: Unsent[] = [];
    for (const { seq, frame } of this.entries) if (frame !== null) rest.push({ seq, frame });
    this.entries = [];
    this.head = this.cursor = this.sentFrom = this.sentEnd = this.dropFrom = 0;
    this.bytes = 0;
    this.live = 0;
    return rest;
  }

  confirm(seq: number, isOk: boolean): void {
    const entry = this.find(seq);
    if (entry === undefined || entry.frame === null) return;
    if (isOk) this.confirmed++;
    else this.refused++;
    this.release(entry);
    this.compact();
  }

  private makeRoom(size: number, isDroppable: boolean): void {
    // What was sent has most likely arrived, so it is dropped first; then the oldest that can be spared.
    const all = this.entries.length;
    this.sentFrom = this.forget(this.sentFrom, this.sentEnd, size, (entry) => entry.isSent);
    if (this.policy === "oldest" || !isDroppable) {
      this.dropFrom = this.forget(this.dropFrom, all, size, (entry) => entry.isDroppable);
      if (!isDroppable) this.forget(this.head, all, size, (entry) => entry.seq > 1);
    }
    this.compact();
  }

  /** Continues where the last scan of its kind stopped: otherwise a full buffer would mean looking at every event. */
  private forget(from: number, to: number, size: number, mayGo: (entry: Entry) => boolean): number {
    let i = Math.max(from, this.head);
    for (; i < to && this.bytes + size > this.bytesMax; i++) {
      const entry = this.entries[i] as Entry;
      if (entry.frame === null || !mayGo(entry)) continue;
      if (entry.isSent) this.unconfirmed++;
      else this.dropped++;
      this.release(entry);
    }
    return i;
  }

  private release(entry: Entry): void {
    if (entry.frame === null) return;
    this.bytes -= entry.frame.length;
    entry.frame = null;
    this.live--;
  }

  private compact(): void {
    while (this.head < this.entries.length && this.entries[this.head]?.frame === null) this.head++;
    if (this.cursor < this.head) this.cursor = this.head;
    if (this.entries.length < 2048 || this.live * 2 > this.entries.length) return;
    const countLive = (end: number) => this.entries.slice(0, end).filter((entry) => entry.frame !== null).length;
    this.cursor = countLive(this.cursor);
    this.sentEnd = countLive(this.sentEnd);
    this.entries = this.entries.filter((entry) => entry.frame !== null);
    this.head = 0;
    this.sentFrom = 0;
    this.dropFrom = 0;
  }

  private find(seq: number): Entry | undefined {
    const { entries } = this;
    const entry = entries[firstPlace(this.head, entries.length, (place) => (entries[place] as Entry).seq < seq)];
    return entry?.seq === seq ? entry : undefined;
  }
}
