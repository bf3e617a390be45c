// Which bodies are worked on. One thread decodes them, so work on many at a time would make all of them late, and hold what
// each was decoded to. So a few go on at a time, and the others wait as they came, in line; small ones go past. Who would
// wait for long, or would find no room, is told so from the head of the request, before anything of its body is read.

import type { Busy, IntakeLoad } from "./http/ports.ts";
import { QuietQuota } from "./quiet-quota.ts";

/** Bodies up to this size skip the queue: they are decoded at once. */
export const smallBodyBytes: number = 64 * 1024;
/** One body is decoded while another is unpacked. */
const workedOnMax = 2;
/** No new body is queued while the first in the queue has waited longer than this. */
const waitMsMax = 1000;
/** Roughly what a byte of a body takes in memory, with the columns that it is decoded to. */
const heldPerByte = 4;
/** A body is let in after this time in any case: applying may wait for the store, and XTrack may keep it busy. */
const trickleMs = 100;
/** How often the queue checks whether accepted bodies have been applied. */
const lookMs = 5;
/** How much of the journal's room is kept for such bodies at most: a sender may announce any number of bytes. */
const promisedBytesMax = 32 * 1024 * 1024;

/** Gives up what is held for a body: room in the journal, or its place among those that are worked on. Again it does nothing. */
export type Leave = () => void;

interface InLine {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly enter: (leave: Leave) => void;
}

function leaveNothing(): void {}

function once(leave: Leave): Leave {
  let isDone = false;
  return () => {
    if (!isDone) leave();
    isDone = true;
  };
}

export class BodyQueue {
  private readonly load: IntakeLoad;
  private readonly bytesMax: number;
  private readonly line: InLine[] = [];
  private workedOn = 0;
  private workedOnBytes = 0;
  /** Of bodies that were let in and are not on their way to the disk yet, as sent. */
  private promisedBytes = 0;
  /** When the last body was let in. */
  private enteredMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private readonly quotas = new WeakMap<object, QuietQuota>();

  /** `heldBytesMax`: what bodies may hold while they are worked on, and after that until they are applied. */
  constructor(load: IntakeLoad, heldBytesMax: number) {
    this.load = load;
    this.bytesMax = heldBytesMax / heldPerByte;
  }

  /**
   * For a body of so many bytes, as sent: why it is not taken now, or how to give up the room in the journal that is kept
   * for it from now on. Without that, it might be read, unpacked and decoded only to be refused.
   */
  admit(bytes: number, connection: object): Busy | Leave {
    const isSmall = bytes <= smallBodyBytes;
    const full = this.load.roomFor(bytes + Math.min(this.promisedBytes, promisedBytesMax), false);
    if (full === null) return isSmall || !this.isLate() ? this.promise(bytes) : { busy: true, retryAfterS: 1 };
    if (!isSmall || !this.quotaOf(connection).take(bytes)) return full;
    return this.load.roomFor(bytes, true) ?? leaveNothing;
  }

  /** For a body of this size when unpacked. It leaves when it is decoded and on its way to the disk. */
  enter(bytes: number): Leave | Promise<Leave> {
    if (bytes <= smallBodyBytes) return leaveNothing;
    if (this.line.length === 0 && this.hasPlace(bytes)) return this.place(bytes);
    return new Promise((enter) => {
      this.line.push({ bytes, sinceMs: performance.now(), enter });
      this.lookLater();
    });
  }

  private promise(bytes: number): Leave {
    this.promisedBytes += bytes;
    return once(() => {
      this.promisedBytes -= bytes;
    });
  }

  private isLate(): boolean {
    const first = this.line[0];
    return first !== undefined && performance.now() - first.sinceMs > waitMsMax;
  }

  private quotaOf(connection: object): QuietQuota {
    const quota = this.quotas.get(connection) ?? new QuietQuota();
    this.quotas.set(connection, quota);
    return quota;
  }

  /** A body above the limit is let in when nothing else is held. */
  private hasPlace(bytes: number): boolean {
    if (this.workedOn >= workedOnMax) return false;
    const held = this.workedOnBytes + this.load.backlogBytes();
    return held === 0 || held + bytes <= this.bytesMax || performance.now() - this.enteredMs > trickleMs;
  }

  private place(bytes: number): Leave {
    this.workedOn++;
    this.workedOnBytes += bytes;
    this.enteredMs = performance.now();
    return once(() => {
      this.workedOn--;
      this.workedOnBytes -= bytes;
      this.look();
    });
  }

  private look(): void {
    for (let first = this.line[0]; first !== undefined && this.hasPlace(first.bytes); first = this.line[0]) {
      this.line.shift();
      first.enter(this.place(first.bytes));
    }
    this.lookLater();
  }

  private lookLater(): void {
    if (this.line.length === 0 || this.timer !== undefined) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.look();
    }, lookMs);
  }
}
