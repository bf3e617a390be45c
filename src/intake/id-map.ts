// A map from 128-bit ids to small integers, for the millions of row ids that intake must recognise.
// Open addressing over typed arrays: 20 bytes a slot and no object per id, where a Map of strings
// would cost about 120. Ids of clients are hostile, so the hash is seeded per process.

import { createHash, randomInt } from "node:crypto";

const hexValue = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) hexValue[digit.toString(16).charCodeAt(0)] = digit;

const seed = randomInt(0xffffffff);
const loadMax = 0.6;

/** Four words of the id that `toIdWords` was last given: the callers' scratch, valid until the next call. */
export const idWords = new Uint32Array(4);

/** Ids are 32 lower-case hex by the document; any other text is known by its SHA-256. */
export function toIdWords(bytes: Uint8Array, start = 0, end: number = bytes.length): void {
  if (end - start === 32) {
    let at = start;
    for (let word = 0; word < 4; word++) {
      let value = 0;
      let bad = 0;
      for (let i = 0; i < 8; i++) {
        const digit = hexValue[bytes[at++] as number] as number;
        bad |= digit;
        value = (value << 4) | digit;
      }
      if (bad < 0) {
        hashToIdWords(bytes.subarray(start, end));
        return;
      }
      idWords[word] = value;
    }
    return;
  }
  hashToIdWords(bytes.subarray(start, end));
}

function hashToIdWords(bytes: Uint8Array): void {
  const digest = createHash("sha256").update("id\0").update(bytes).digest();
  for (let word = 0; word < 4; word++) idWords[word] = digest.readUInt32BE(word * 4);
}

export class IdMap {
  size = 0;
  private capacity: number;
  private words: Uint32Array;
  /** 0 is an empty slot; else the value plus one. */
  private values: Uint32Array;

  constructor(capacity = 1024) {
    this.capacity = capacity;
    this.words = new Uint32Array(capacity * 4);
    this.values = new Uint32Array(capacity);
  }

  /** The value of the id in `idWords`, or -1. */
  get(): number {
    return (this.values[this.slotOf(idWords, 0)] as number) - 1;
  }

  /** Sets the value of the id in `idWords`. */
  set(value: number): void {
    if (this.size + 1 > this.capacity * loadMax) this.grow();
    const slot = this.slotOf(idWords, 0);
    if (this.values[slot] === 0) {
      this.copyWords(idWords, 0, slot);
      this.size++;
    }
    this.values[slot] = value + 1;
  }

  /** Rough memory in bytes. */
  get byteSize(): number {
    return this.capacity * 20;
  }

  /** The slot of the id whose four words begin at `from`. Destructuring them would go through an iterator. */
  private slotOf(id: Uint32Array, from: number): number {
    const { words, values } = this;
    const mask = this.capacity - 1;
    const a = id[from] as number;
    const b = id[from + 1] as number;
    const c = id[from + 2] as number;
    const d = id[from + 3] as number;
    let hash = Math.imul(a ^ seed, 0x9e3779b1) ^ Math.imul(b + seed, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15) ^ c, 0xc2b2ae35) ^ d;
    let slot = (hash ^ (hash >>> 13)) & mask;
    while (values[slot] !== 0) {
      const at = slot * 4;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private grow(): void {
    const old = { capacity: this.capacity, words: this.words, values: this.values };
    this.capacity *= 2;
    this.words = new Uint32Array(this.capacity * 4);
    this.values = new Uint32Array(this.capacity);
    for (let slot = 0; slot < old.capacity; slot++) {
      const value = old.values[slot] as number;
      if (value === 0) continue;
      const target = this.slotOf(old.words, slot * 4);
      this.copyWords(old.words, slot * 4, target);
      this.values[target] = value;
    }
  }

  private copyWords(from: Uint32Array, at: number, slot: number): void {
    const { words } = this;
    for (let word = 0; word < 4; word++) words[slot * 4 + word] = from[at + word] as number;
  }
}
