// Growable columns of numbers that fit one element of a typed array.

/** The next capacity: quickly past the small sizes, where most of the copying would happen, then by doubling. */
export function grownSize(size: number, needed: number): number {
  return Math.max(size < 1024 ? size * 4 : size * 2, needed, 16);
}

const noDoubles = new Float64Array(0);
const noIntegers = new Int32Array(0);
const noWords = new Uint32Array(0);
const noBytes = new Uint8Array(0);
const makeFloat64 = (size: number) => new Float64Array(size);
const makeInt32 = (size: number) => new Int32Array(size);
const makeUint32 = (size: number) => new Uint32Array(size);
const makeUint8 = (size: number) => new Uint8Array(size);

// Each class below has a `push` of its own: the runtime learns types per function, and one that all shared would see
// four kinds of arrays and be slow for each.
abstract class FixedColumn<A extends Float64Array | Int32Array | Uint32Array | Uint8Array> {
  values: A;
  length = 0;
  private readonly make: (size: number) => A;

  constructor(empty: A, make: (size: number) => A) {
    this.values = empty;
    this.make = make;
  }

  abstract push(value: number): void;

  /** Adds one value until the column has this many. */
  padTo(length: number, value: number): void {
    if (length <= this.length) return;
    this.reserve(length);
    this.values.fill(value, this.length, length);
    this.length = length;
  }

  at(row: number): number {
    return this.values[row] as number;
  }

  /** Makes room for this many values. */
  reserve(length: number): void {
    if (length > this.values.length) this.grow(length);
  }

  protected grow(needed: number): void {
    const grown = this.make(grownSize(this.values.length, needed));
    grown.set(this.values);
    this.values = grown;
  }
}

export class Float64Column extends FixedColumn<Float64Array> {
  constructor() {
    super(noDoubles, makeFloat64);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class Int32Column extends FixedColumn<Int32Array> {
  constructor() {
    super(noIntegers, makeInt32);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class UInt32Column extends FixedColumn<Uint32Array> {
  constructor() {
    super(noWords, makeUint32);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}

export class UInt8Column extends FixedColumn<Uint8Array> {
  constructor() {
    super(noBytes, makeUint8);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.grow(0);
    this.values[this.length++] = value;
  }
}
