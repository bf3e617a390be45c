// Which ids may have been seen: a filter that says "never" for certain and errs about once in a billion times, in six to
// ten bytes per id. A batch has a thousand ids, and any of them may cost a question to the store; with a smaller filter
// that errs once in a hundred times, every batch would ask.
//
// One word of each id's hash is kept, in the slot that the rest of the hash gives or the next free one.

import { randomInt } from "node:crypto";

/** Clients may choose ids that collide, so each process has its own seeds. */
const [placeSeed, wordSeed] = [randomInt(0xffffffff), randomInt(0xffffffff)];

const loadMax = 0.75;
const slotsMin = 64;

export class FingerprintSet {
  /** Ids that were added. */
  size = 0;
  readonly capacity: number;
  /** 0 is an empty slot. */
  private readonly slots: Uint32Array;
  private readonly mask: number;

  constructor(capacity: number) {
    this.capacity = capacity;
    const slots = 2 ** Math.ceil(Math.log2(Math.max(slotsMin, capacity / loadMax)));
    this.slots = new Uint32Array(slots);
    this.mask = slots - 1;
  }

  get byteSize(): number {
    return this.slots.byteLength;
  }

  /** Adds an id of 64 bits. No more may be added than there is capacity for. */
  add(low: number, high: number): void {
    const { slots, mask } = this;
    const word = wordOf(low, high);
    let at = placeOf(low, high) & mask;
    while (slots[at] !== 0) {
      if (slots[at] === word) return;
      at = (at + 1) & mask;
    }
    slots[at] = word;
    this.size++;
  }

  /** Whether an id may have been added. */
  has(low: number, high: number): boolean {
    const { slots, mask } = this;
    let at = placeOf(low, high) & mask;
    if (slots[at] === 0) return false;
    const word = wordOf(low, high);
    for (; slots[at] !== 0; at = (at + 1) & mask) if (slots[at] === word) return true;
    return false;
  }
}

function placeOf(low: number, high: number): number {
  return mix(Math.imul(low ^ placeSeed, 0x85ebca6b) ^ high);
}

function wordOf(low: number, high: number): number {
  // Never 0.
  return mix(Math.imul(high ^ wordSeed, 0xcc9e2d51) ^ Math.imul(low, 0x1b873593)) || 1;
}

function mix(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x9e3779b1);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
