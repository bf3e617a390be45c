// Which ids may have been seen: a filter that says "never" for certain and "perhaps" with a small error, in some twelve
// bits per id. It is asked before the store, so that a new id, as nearly all are, costs no question.
//
// An id touches one block of 64 bytes, and so one line of the processor's cache.

import { randomInt } from "node:crypto";

/** Ids of clients may be chosen to collide. */
const seed = randomInt(0xffffffff);

const blockWords = 16;
const blockBits = blockWords * 32;

export class Bloom {
  /** Ids that were added. */
  size = 0;
  private readonly words: Uint32Array;
  private readonly blockMask: number;

  /** `bitsPerId`: 12 errs once in a hundred times, 24 once in ten thousand. */
  constructor(capacity: number, bitsPerId = 12) {
    const blocks = 2 ** Math.ceil(Math.log2(Math.max(1, (capacity * bitsPerId) / blockBits)));
    this.words = new Uint32Array(blocks * blockWords);
    this.blockMask = blocks - 1;
  }

  get byteSize(): number {
    return this.words.byteLength;
  }

  /** Adds an id of 64 bits. */
  add(low: number, high: number): void {
    const { words } = this;
    const hash = mix(Math.imul(low ^ seed, 0x85ebca6b) ^ high);
    const block = (hash & this.blockMask) * blockWords;
    let bits = mix(hash ^ low);
    for (let round = 0; round < 6; round++) {
      if (round === 3) bits = mix(bits ^ high);
      const at = block + ((bits >>> 5) & 15);
      words[at] = (words[at] as number) | (1 << (bits & 31));
      bits = (bits >>> 9) | (bits << 23);
    }
    this.size++;
  }

  /** Whether an id may have been added. */
  has(low: number, high: number): boolean {
    const { words } = this;
    const hash = mix(Math.imul(low ^ seed, 0x85ebca6b) ^ high);
    const block = (hash & this.blockMask) * blockWords;
    let bits = mix(hash ^ low);
    for (let round = 0; round < 6; round++) {
      if (round === 3) bits = mix(bits ^ high);
      if (((words[block + ((bits >>> 5) & 15)] as number) & (1 << (bits & 31))) === 0) return false;
      bits = (bits >>> 9) | (bits << 23);
    }
    return true;
  }
}

function mix(value: number): number {
  const first = Math.imul(value ^ (value >>> 16), 0x9e3779b1);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
