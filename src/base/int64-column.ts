// 64-bit integers, which no typed array can return as numbers.

import { wordPool } from "./array-pool.ts";
import { grownSize, keptBytesMax } from "./fixed-columns.ts";

const noWords = new Uint32Array(0);
const two32 = 4294967296;

/** A 64-bit integer and its two words in the same memory: taking it apart by arithmetic would allocate several numbers. */
const scratch = new BigInt64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);

/** 64-bit integers as pairs of little-endian words, so that no BigInt is made on the hot path. */
export class Int64Column<T extends bigint = bigint> {
  words: Uint32Array = noWords;
  length = 0;

  /** `low` and `high` are taken modulo 2^32; a negative number is its two's complement. */
  pushWords(low: number, high: number): void {
    if (this.length * 2 === this.words.length) this.grow(0);
    this.words[this.length * 2] = low;
    this.words[this.length * 2 + 1] = high;
    this.length++;
  }

  /** Adds one value until the column has this many. */
  padTo(length: number, value: T): void {
    if (length <= this.length) return;
    scratch[0] = value;
    const low = scratchWords[0] as number;
    const high = scratchWords[1] as number;
    if (length * 2 > this.words.length) this.reserve(length);
    const { words } = this;
    for (let at = this.length * 2; at < length * 2; at += 2) {
      words[at] = low;
      words[at + 1] = high;
    }
    this.length = length;
  }

  padZerosTo(length: number): void {
    if (length <= this.length) return;
    this.reserve(length);
    this.words.fill(0, this.length * 2, length * 2);
    this.length = length;
  }

  /** A safe integer. */
  pushNumber(value: number): void {
    this.pushWords(value >>> 0, Math.floor(value / two32));
  }

  pushBigInt(value: T): void {
    scratch[0] = value;
    this.pushWords(scratchWords[0] as number, scratchWords[1] as number);
  }

  setBigInt(row: number, value: T): void {
    scratch[0] = value;
    this.words[row * 2] = scratchWords[0] as number;
    this.words[row * 2 + 1] = scratchWords[1] as number;
  }

  at(row: number): T {
    scratchWords[0] = this.words[row * 2] as number;
    scratchWords[1] = this.words[row * 2 + 1] as number;
    return scratch[0] as T;
  }

  /** Makes room for this many values. */
  reserve(length: number): void {
    if (length * 2 > this.words.length) this.grow(length * 2);
  }

  get byteSize(): number {
    return this.words.byteLength;
  }

  /** Gives the memory back; the column is empty then. */
  release(): void {
    wordPool.give(this.words);
    this.words = noWords;
    this.length = 0;
  }

  /** Empties the column and keeps its memory for other rows, unless that is much. */
  clear(): void {
    if (this.words.byteLength > keptBytesMax) this.release();
    this.length = 0;
  }

  private grow(needed: number): void {
    const grown = wordPool.take(grownSize(this.words.length, needed));
    grown.set(this.words);
    wordPool.give(this.words);
    this.words = grown;
  }
}
