// A map from 128-bit ids to small integers, for the millions of row ids that intake must recognise.
// Open addressing over a typed array: 20 bytes a slot and no object per id, where a Map of strings
// would cost about 120. Ids of clients are hostile, so the hash is seeded per process.
//
// The table is larger than any cache and is accessed at random, so most of the work is waiting for memory. An id and its
// value are therefore side by side, and a look-up waits once.

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

/** Words of a slot: the id, then 0 for an empty slot, else the value plus one. */
const slotWords = 5;
const valueAt = 4;

/**
 * The ids are spread over parts that grow by themselves: moving millions of ids at once would stop the server for a
 * tenth of a second.
 */
const partBits = 6;
const partCount = 1 << partBits;
const firstSlots = 16;
/** Up to this many share one part: with several parts, the few lines of a run would take ten times their bytes. */
const fewMax = 64;

export class IdMap {
  size = 0;
  /** All ids while they are few, null when they are spread over `parts`. */
  private few: Part | null = new Part();
  private parts: (Part | undefined)[] = [];

  /** The value of the id in `idWords`, or -1. */
  get(): number {
    const hash = hashOf(idWords, 0);
    const part = this.few ?? this.parts[hash & (partCount - 1)];
    return part === undefined ? -1 : (part.slots[part.find(hash, idWords, 0) + valueAt] as number) - 1;
  }

  /** Sets the value of the id in `idWords`. */
  set(value: number): void {
    const hash = hashOf(idWords, 0);
    const part = this.partOf(hash);
    const slot = part.place(hash);
    if (part.slots[slot + valueAt] === 0) this.count(part);
    part.put(slot, idWords, 0, value + 1);
  }

  /** The value of the id in `idWords`. If it has none yet, it gets `fresh`, and -1 is returned. */
  getOrSet(fresh: number): number {
    const hash = hashOf(idWords, 0);
    const part = this.partOf(hash);
    const slot = part.place(hash);
    const known = (part.slots[slot + valueAt] as number) - 1;
    if (known >= 0) return known;
    this.count(part);
    part.put(slot, idWords, 0, fresh + 1);
    return -1;
  }

  /** All ids, a few at a time. None may be added meanwhile. */
  walk(): IdWalk {
    return new IdWalk(this.few === null ? this.parts : [this.few]);
  }

  /** Rough memory in bytes. */
  get byteSize(): number {
    if (this.few !== null) return this.few.slots.byteLength;
    return this.parts.reduce((sum, part) => sum + (part?.slots.byteLength ?? 0), 0);
  }

  private partOf(hash: number): Part {
    if (this.few !== null) {
      if (this.few.size < fewMax) return this.few;
      this.spread(this.few);
    }
    const at = hash & (partCount - 1);
    const known = this.parts[at];
    if (known !== undefined) return known;
    const made = new Part();
    this.parts[at] = made;
    return made;
  }

  private spread({ slots }: Part): void {
    this.few = null;
    this.parts = new Array(partCount).fill(undefined);
    for (let at = 0; at < slots.length; at += slotWords) {
      const value = slots[at + valueAt] as number;
      if (value === 0) continue;
      const hash = hashOf(slots, at);
      this.partOf(hash).add(hash, slots, at, value);
    }
  }

  private count(part: Part): void {
    part.size++;
    this.size++;
  }
}

export class IdWalk {
  private readonly parts: readonly (Part | undefined)[];
  private part = 0;
  private at = 0;

  constructor(parts: readonly (Part | undefined)[]) {
    this.parts = parts;
  }

  /** Calls `look` with each of the next ids: its four words begin at `at`. */
  next(count: number, look: (words: Uint32Array, at: number) => void): void {
    let left = count;
    for (; this.part < this.parts.length; this.part++, this.at = 0) {
      const slots = this.parts[this.part]?.slots;
      if (slots === undefined) continue;
      for (; this.at < slots.length; this.at += slotWords) {
        if (slots[this.at + valueAt] === 0) continue;
        if (left-- === 0) return;
        look(slots, this.at);
      }
    }
  }
}

/** The first slots of many parts share memory: an array for each of ten thousand runs would cost more than its ids. */
const firstWords = firstSlots * slotWords;
const slabParts = 128;
let slab = new Uint32Array(0);
let slabUsed = 0;

function takeFirstSlots(): Uint32Array {
  if (slabUsed === slab.length) {
    slab = new Uint32Array(firstWords * slabParts);
    slabUsed = 0;
  }
  slabUsed += firstWords;
  return slab.subarray(slabUsed - firstWords, slabUsed);
}

class Part {
  size = 0;
  slots: Uint32Array = takeFirstSlots();
  private mask = firstSlots - 1;
  private sizeMax = Math.floor(firstSlots * loadMax);

  /** The slot of the id in `idWords`, or one where it can be put. */
  place(hash: number): number {
    if (this.size >= this.sizeMax) this.grow();
    return this.find(hash, idWords, 0);
  }

  /** The slot of the id whose four words begin at `from`. Destructuring the words would go through an iterator. */
  find(hash: number, id: Uint32Array, from: number): number {
    const { slots, mask } = this;
    const a = id[from] as number;
    const b = id[from + 1] as number;
    const c = id[from + 2] as number;
    const d = id[from + 3] as number;
    let slot = (hash >>> partBits) & mask;
    for (;;) {
      const at = slot * slotWords;
      if (slots[at + valueAt] === 0) return at;
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) return at;
      slot = (slot + 1) & mask;
    }
  }

  /** An id that is not here yet. */
  add(hash: number, id: Uint32Array, from: number, value: number): void {
    if (this.size >= this.sizeMax) this.grow();
    this.put(this.find(hash, id, from), id, from, value);
    this.size++;
  }

  put(slot: number, id: Uint32Array, from: number, value: number): void {
    const { slots } = this;
    slots[slot] = id[from] as number;
    slots[slot + 1] = id[from + 1] as number;
    slots[slot + 2] = id[from + 2] as number;
    slots[slot + 3] = id[from + 3] as number;
    slots[slot + valueAt] = value;
  }

  private grow(): void {
    const old = this.slots;
    const count = (old.length / slotWords) * 2;
    this.slots = new Uint32Array(count * slotWords);
    this.mask = count - 1;
    this.sizeMax = Math.floor(count * loadMax);
    for (let at = 0; at < old.length; at += slotWords) {
      const value = old[at + valueAt] as number;
      if (value !== 0) this.put(this.find(hashOf(old, at), old, at), old, at, value);
    }
  }
}

function hashOf(id: Uint32Array, from: number): number {
  const first =
    Math.imul((id[from] as number) ^ seed, 0x9e3779b1) ^ Math.imul((id[from + 1] as number) + seed, 0x85ebca6b);
  const mixed = Math.imul(first ^ (first >>> 15) ^ (id[from + 2] as number), 0xc2b2ae35) ^ (id[from + 3] as number);
  return mixed ^ (mixed >>> 13);
}
