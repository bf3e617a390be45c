// Growable columns of numbers that fit one element of a typed array.

import { type ArrayPool, bytePool, doublePool, integerPool, wordPool } from "./array-pool.ts";

/**
 * The next capacity: quickly past the small sizes, where most of the copying would happen, then by doubling. The first is
 * of at most 64 bytes, which the runtime keeps in its heap: a record that comes alone has dozens of columns of one row.
 */
export function grownSize(size: number, needed: number, least = 16): number {
  return Math.max(size < 1024 ? size * 4 : size * 2, needed, least);
}

/** A column that is cleared for reuse keeps no more memory than this. */
export const keptBytesMax = 1024;

const noDoubles = new Float64Array(0);
const noIntegers = new Int32Array(0);
const noWords = new Uint32Array(0);
const noBytes = new Uint8Array(0);

/** For more rows the runtime copies faster than a loop. */
const manyRows = 128;

// Each class below has a `push` of its own: the runtime learns types per function, and one that all shared would see
// four kinds of arrays and be slow for each.
abstract class FixedColumn<A extends Float64Array | Int32Array | Uint32Array | Uint8Array> {
  values: A;
  length = 0;
  private readonly empty: A;
  private readonly pool: ArrayPool<A>;

  constructor(empty: A, pool: ArrayPool<A>) {
    this.values = empty;
    this.empty = empty;
    this.pool = pool;
  }

  abstract push(value: number): void;

  /** Adds one value until the column has this many. */
  padTo(length: number, value: number): void {
    if (length <= this.length) return;
    this.reserve(length);
    this.values.fill(value, this.length, length);
    this.length = length;
  }

  /** Adds rows [start, end) of another column. */
  append({ values }: { readonly values: A }, start: number, end: number): void {
    this.reserve(this.length + end - start);
    if (end - start < manyRows) {
      for (let row = start; row < end; row++) this.values[this.length++] = values[row] as number;
      return;
    }
    this.values.set(values.subarray(start, end), this.length);
    this.length += end - start;
  }

  at(row: number): number {
    return this.values[row] as number;
  }

  /** Makes room for this many values. */
  reserve(length: number): void {
    if (length > this.values.length) this.grow(length);
  }

  get byteSize(): number {
    return this.values.byteLength;
  }

  /** Gives the memory back; the column is empty then. */
  release(): void {
    this.pool.give(this.values);
    this.values = this.empty;
    this.length = 0;
  }

  /** Empties the column and keeps its memory for other rows, unless that is much. */
  clear(): void {
    if (this.values.byteLength > keptBytesMax) this.release();
    this.length = 0;
  }

  protected grow(needed: number): void {
    const { BYTES_PER_ELEMENT: width, length } = this.values;
    const grown = this.pool.take(grownSize(length, needed, width === 8 ? 8 : 16));
    grown.set(this.values);
    this.pool.give(this.values);
    this.values = grown;
  }
}

export class Float64Column extends FixedColumn<Float64Array> {
  constructor() {
    super(noDoubles, doublePool);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class Int32Column extends FixedColumn<Int32Array> {
  constructor() {
    super(noIntegers, integerPool);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class UInt32Column extends FixedColumn<Uint32Array> {
  constructor() {
    super(noWords, wordPool);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class UInt8Column extends FixedColumn<Uint8Array> {
  constructor() {
    super(noBytes, bytePool);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}
