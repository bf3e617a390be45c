// Growable columns: what a decoder fills and the store's block writer drains.
// A record never becomes an object: each of its fields is pushed onto its column, and all
// columns of a table have the same length. Columns only grow; whoever drains them drops them.

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** UTF-8 text or raw bytes of any length: all bytes back to back, and where each value ends. */
export class StringColumn {
  bytes: Uint8Array = new Uint8Array(256);
  ends: Uint32Array = new Uint32Array(16);
  length = 0;
  byteLength = 0;

  pushBytes(source: Uint8Array, start = 0, end: number = source.length): void {
    const size = end - start;
    this.reserve(size);
    const { bytes } = this;
    const at = this.byteLength;
    // Below about 48 bytes a plain loop beats the call into the runtime's memcpy.
    if (size < 48) for (let i = 0; i < size; i++) bytes[at + i] = source[start + i] as number;
    else bytes.set(source.subarray(start, end), at);
    this.finishValue(size);
  }

  push(text: string): void {
    this.reserve(text.length * 3);
    const { written } = textEncoder.encodeInto(text, this.bytes.subarray(this.byteLength));
    this.finishValue(written);
  }

  /** Adds empty values until the column has this many. */
  padTo(length: number): void {
    if (length <= this.length) return;
    if (length > this.ends.length) {
      const grown = new Uint32Array(Math.max(this.ends.length * 2, length));
      grown.set(this.ends.subarray(0, this.length));
      this.ends = grown;
    }
    this.ends.fill(this.byteLength, this.length, length);
    this.length = length;
  }

  at(row: number): string {
    return textDecoder.decode(this.bytesAt(row));
  }

  /** A view, valid until the next push. */
  bytesAt(row: number): Uint8Array {
    return this.bytes.subarray(row === 0 ? 0 : this.ends[row - 1], this.ends[row]);
  }

  private reserve(size: number): void {
    if (this.byteLength + size > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.byteLength + size));
      grown.set(this.bytes.subarray(0, this.byteLength));
      this.bytes = grown;
    }
    if (this.length === this.ends.length) {
      const grown = new Uint32Array(this.ends.length * 2);
      grown.set(this.ends);
      this.ends = grown;
    }
  }

  private finishValue(size: number): void {
    this.byteLength += size;
    this.ends[this.length++] = this.byteLength;
  }
}

/** Text with few distinct values: a dictionary and one code a row (LowCardinality in the store). */
export class DictColumn {
  readonly keys: string[] = [];
  codes: Uint32Array = new Uint32Array(16);
  length = 0;
  private readonly codeOf = new Map<string, number>();
  private lastText: string | undefined;
  private lastCode = 0;

  push(text: string): void {
    this.pushCode(text === this.lastText ? this.lastCode : this.intern(text));
  }

  /** The code of a text, made when it is new; for callers that push the same text many times. */
  intern(text: string): number {
    let code = this.codeOf.get(text);
    if (code === undefined) {
      code = this.keys.length;
      this.keys.push(text);
      this.codeOf.set(text, code);
    }
    this.lastText = text;
    this.lastCode = code;
    return code;
  }

  pushCode(code: number): void {
    if (this.length === this.codes.length) {
      const grown = new Uint32Array(this.codes.length * 2);
      grown.set(this.codes);
      this.codes = grown;
    }
    this.codes[this.length++] = code;
  }

  /** Adds one text until the column has this many values. */
  padTo(length: number, text: string): void {
    if (length <= this.length) return;
    const code = this.intern(text);
    if (length > this.codes.length) {
      const grown = new Uint32Array(Math.max(this.codes.length * 2, length));
      grown.set(this.codes.subarray(0, this.length));
      this.codes = grown;
    }
    this.codes.fill(code, this.length, length);
    this.length = length;
  }

  at(row: number): string {
    return this.keys[this.codes[row] as number] as string;
  }
}

const two32 = 4294967296;

/** 64-bit integers as pairs of little-endian words, so that no BigInt is made on the hot path. */
export class Int64Column {
  words: Uint32Array = new Uint32Array(32);
  length = 0;

  /** `low` and `high` are taken modulo 2^32; a negative number is its two's complement. */
  pushWords(low: number, high: number): void {
    if (this.length * 2 === this.words.length) {
      const grown = new Uint32Array(this.words.length * 2);
      grown.set(this.words);
      this.words = grown;
    }
    this.words[this.length * 2] = low;
    this.words[this.length * 2 + 1] = high;
    this.length++;
  }

  /** Adds one value until the column has this many. */
  padTo(length: number, value: bigint): void {
    const low = Number(BigInt.asUintN(32, value));
    const high = Number(BigInt.asUintN(32, value >> 32n));
    while (this.length < length) this.pushWords(low, high);
  }

  /** A safe integer. */
  pushNumber(value: number): void {
    this.pushWords(value >>> 0, Math.floor(value / two32));
  }

  pushBigInt(value: bigint): void {
    this.pushWords(Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n)));
  }

  at(row: number): bigint {
    const low = this.words[row * 2] as number;
    const high = (this.words[row * 2 + 1] as number) | 0;
    return (BigInt(high) << 32n) | BigInt(low);
  }
}

class FixedColumn<A extends Float64Array | Int32Array | Uint32Array | Uint8Array> {
  values: A;
  length = 0;
  private readonly make: (size: number) => A;

  constructor(make: (size: number) => A) {
    this.make = make;
    this.values = make(16);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = this.make(this.values.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  /** Adds one value until the column has this many. */
  padTo(length: number, value: number): void {
    if (length <= this.length) return;
    if (length > this.values.length) {
      const grown = this.make(Math.max(this.values.length * 2, length));
      grown.set(this.values.subarray(0, this.length));
      this.values = grown;
    }
    this.values.fill(value, this.length, length);
    this.length = length;
  }

  at(row: number): number {
    return this.values[row] as number;
  }
}

export class Float64Column extends FixedColumn<Float64Array> {
  constructor() {
    super((size) => new Float64Array(size));
  }
}

export class Int32Column extends FixedColumn<Int32Array> {
  constructor() {
    super((size) => new Int32Array(size));
  }
}

export class UInt32Column extends FixedColumn<Uint32Array> {
  constructor() {
    super((size) => new Uint32Array(size));
  }
}

export class UInt8Column extends FixedColumn<Uint8Array> {
  constructor() {
    super((size) => new Uint8Array(size));
  }
}

/** A column in which a row may be absent. The inner column holds a zero or '' there. */
export class NullableColumn<C extends { length: number }> {
  readonly nulls: UInt8Column = new UInt8Column();
  readonly inner: C;
  private readonly pushZero: (inner: C) => void;

  constructor(inner: C, pushZero: (inner: C) => void) {
    this.inner = inner;
    this.pushZero = pushZero;
  }

  get length(): number {
    return this.nulls.length;
  }

  pushNull(): void {
    this.nulls.push(1);
    this.pushZero(this.inner);
  }

  /** Marks the row as present; the caller then pushes its value onto `inner`. */
  present(): C {
    this.nulls.push(0);
    return this.inner;
  }

  isNull(row: number): boolean {
    return this.nulls.at(row) === 1;
  }
}

export function nullableInt64(): NullableColumn<Int64Column> {
  return new NullableColumn(new Int64Column(), (inner) => inner.pushWords(0, 0));
}

export function nullableFloat64(): NullableColumn<Float64Column> {
  return new NullableColumn(new Float64Column(), (inner) => inner.push(0));
}

export function nullableString(): NullableColumn<StringColumn> {
  return new NullableColumn(new StringColumn(), (inner) => inner.push(""));
}

export function nullableUInt8(): NullableColumn<UInt8Column> {
  return new NullableColumn(new UInt8Column(), (inner) => inner.push(0));
}

/** A list a row: all items back to back, and where each row's items end. */
export class ArrayColumn<C extends { length: number }> {
  readonly ends: UInt32Column = new UInt32Column();
  readonly items: C;

  constructor(items: C) {
    this.items = items;
  }

  get length(): number {
    return this.ends.length;
  }

  /** Closes a row after its items were pushed onto `items`. */
  finishRow(): void {
    this.ends.push(this.items.length);
  }
}
