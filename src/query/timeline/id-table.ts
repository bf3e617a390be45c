// Ids of 16 bytes, numbered in the order they were first met, and found again by their bytes. A run has as many as it
// has spans, so they lie in one array and are found through an open hash table.

const idBytes = 16;
const noNumber = -1;

export class IdTable {
  count = 0;
  private words = new Uint32Array(64 * 4);
  /** Numbers by hash, `noNumber` where a slot is free; at most half of the slots are taken. */
  private slots = new Int32Array(slotCount(64)).fill(noNumber);

  get bytes(): number {
    return this.words.byteLength + this.slots.byteLength;
  }

  /** The numbers of the ids that lie back to back in `ids`. New ids are added. */
  numberAll(ids: Uint8Array, into: Uint32Array, at: number): void {
    const rows = ids.length / idBytes;
    this.reserve(this.count + rows);
    const words = new Uint32Array(ids.buffer, ids.byteOffset, rows * 4);
    for (let row = 0; row < rows; row++) into[at + row] = this.number(words, row * 4);
  }

  /** As `numberAll` for one id, which begins at a word of `ids`. There must be room for it. */
  number(ids: Uint32Array, from: number): number {
    const a = ids[from] as number;
    const b = ids[from + 1] as number;
    const c = ids[from + 2] as number;
    const d = ids[from + 3] as number;
    const { slots, words } = this;
    const mask = slots.length - 1;
    for (let slot = hash(a, b, c, d) & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot] as number;
      if (number === noNumber) {
        slots[slot] = this.count;
        const at = this.count * 4;
        words[at] = a;
        words[at + 1] = b;
        words[at + 2] = c;
        words[at + 3] = d;
        return this.count++;
      }
      const at = number * 4;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return number;
    }
  }

  /** 32 digits, or the first 16 where the others are zeros: OTLP's ids have 8 bytes, and no id of 16 ends so. */
  hexOf(number: number): string {
    const at = number * 4;
    const isShort = this.words[at + 2] === 0 && this.words[at + 3] === 0;
    const size = isShort ? idBytes / 2 : idBytes;
    return Buffer.from(this.words.buffer, this.words.byteOffset + number * idBytes, size).toString("hex");
  }

  /** Sorts ids as their bytes do. */
  compare(one: number, other: number): number {
    return Buffer.compare(this.bytesOf(one), this.bytesOf(other));
  }

  reserve(count: number): void {
    if (count * 4 > this.words.length) {
      const grown = new Uint32Array(Math.max(count, this.count * 2) * 4);
      grown.set(this.words.subarray(0, this.count * 4));
      this.words = grown;
    }
    if (count * 2 > this.slots.length) this.hashAgain(slotCount(Math.max(count, this.count * 2)));
  }

  private hashAgain(size: number): void {
    const { words } = this;
    const slots = new Int32Array(size).fill(noNumber);
    const mask = size - 1;
    for (let number = 0; number < this.count; number++) {
      const at = number * 4;
      let slot =
        hash(words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number) & mask;
      while (slots[slot] !== noNumber) slot = (slot + 1) & mask;
      slots[slot] = number;
    }
    this.slots = slots;
  }

  private bytesOf(number: number): Uint8Array {
    return new Uint8Array(this.words.buffer, this.words.byteOffset + number * idBytes, idBytes);
  }
}

function slotCount(ids: number): number {
  let size = 128;
  while (size < ids * 2) size *= 2;
  return size;
}

/** Ids may be counted up by their sender, so every byte counts. */
function hash(a: number, b: number, c: number, d: number): number {
  let mixed = Math.imul(a ^ Math.imul(b, 0x85ebca6b), 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ c, 0x27d4eb2f);
  mixed = Math.imul(mixed ^ (mixed >>> 13) ^ d, 0x165667b1);
  return mixed ^ (mixed >>> 16);
}
