// Growable columns: what a decoder fills and the store's block writer drains.
// A record never becomes an object: each of its fields is pushed onto its column, and all
// columns of a table have the same length. Columns only grow; whoever drains them drops or releases them.

import { bytePool, wordPool } from "./array-pool.ts";
import { copyBytes } from "./copy-bytes.ts";
import { DictColumn } from "./dict-column.ts";
import { Float64Column, grownSize, Int32Column, keptBytesMax, UInt8Column, UInt32Column } from "./fixed-columns.ts";
import { Int64Column } from "./int64-column.ts";

// All columns can be imported from here.
export { DictColumn, Float64Column, Int32Column, Int64Column, UInt8Column, UInt32Column };

// An empty column owns no memory: a batch has many columns, and often few or no rows for them.
const noBytes = new Uint8Array(0);
const noWords = new Uint32Array(0);

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

const shortText = 100;
/** For longer texts the runtime copies faster than a loop. */
const longText = 1024;

/** UTF-8 text or raw bytes of any length: all bytes back to back, and where each value ends. */
export class StringColumn {
  bytes: Uint8Array = noBytes;
  ends: Uint32Array = noWords;
  length = 0;
  byteLength = 0;
  /** Over `bytes`. Made when it is first needed, because making it moves a small array out of the heap. */
  private madeView: DataView | undefined;

  /**
   * As `pushBytes`, from a view over the source. Short texts are copied four bytes at a time, which takes a third of
   * the time of single bytes; a caller that pushes many texts from one buffer makes the view once.
   */
  pushView(source: DataView, start: number, end: number): void {
    const size = end - start;
    if (size >= 64) {
      this.pushBytes(new Uint8Array(source.buffer, source.byteOffset + start, size));
      return;
    }
    this.makeRoom(size);
    const { view } = this;
    let at = this.byteLength;
    let from = start;
    for (; from + 4 <= end; from += 4, at += 4) view.setInt32(at, source.getInt32(from, true), true);
    for (; from < end; from++, at++) view.setUint8(at, source.getUint8(from));
    this.finishValue(size);
  }

  /** Pushes `count` texts of the source: the i-th is `source[from[at]..to[at])` with `at = first + i * step`. */
  pushViews(source: DataView, from: Int32Array, to: Int32Array, first: number, step: number, count: number): void {
    let size = 0;
    for (let i = 0, at = first; i < count; i++, at += step) size += (to[at] as number) - (from[at] as number);
    this.reserve(this.length + count, this.byteLength + size);
    const { view, ends } = this;
    let end = this.byteLength;
    for (let i = 0, at = first; i < count; i++, at += step) {
      const stop = to[at] as number;
      let p = from[at] as number;
      if (stop - p > longText) {
        copyBytes(new Uint8Array(source.buffer, source.byteOffset + p, stop - p), 0, stop - p, this.bytes, end);
        end += stop - p;
        p = stop;
      }
      for (; p + 4 <= stop; p += 4, end += 4) view.setInt32(end, source.getInt32(p, true), true);
      for (; p < stop; p++, end++) view.setUint8(end, source.getUint8(p));
      ends[this.length + i] = end;
    }
    this.byteLength = end;
    this.length += count;
  }

  pushBytes(source: Uint8Array, start = 0, end: number = source.length): void {
    const size = end - start;
    this.makeRoom(size);
    copyBytes(source, start, end, this.bytes, this.byteLength);
    this.finishValue(size);
  }

  push(text: string): void {
    this.makeRoom(text.length * 3);
    if (text.length < shortText && this.tryPlain(text)) return;
    const { written } = textEncoder.encodeInto(text, this.bytes.subarray(this.byteLength));
    this.finishValue(written);
  }

  /** Writes a short ASCII text itself: creating the view that the runtime's encoder needs takes longer. */
  private tryPlain(text: string): boolean {
    const { bytes, byteLength } = this;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return false;
      bytes[byteLength + at] = code;
    }
    this.finishValue(text.length);
    return true;
  }

  /** Pushes `count` values that lie back to back from the beginning of the source; the i-th of them ends at `ends[i]`. */
  pushJoined(source: Uint8Array, ends: Uint32Array, count: number): void {
    const size = count === 0 ? 0 : (ends[count - 1] as number);
    const { length, byteLength } = this;
    this.reserve(length + count, byteLength + size);
    copyBytes(source, 0, size, this.bytes, byteLength);
    const own = this.ends;
    for (let i = 0; i < count; i++) own[length + i] = byteLength + (ends[i] as number);
    this.length += count;
    this.byteLength += size;
  }

  /** As `pushJoined` onto an empty column, which then owns the source, so that megabytes are not copied. */
  adopt(source: Uint8Array, ends: Uint32Array, count: number): void {
    this.release();
    this.reserve(count, 0);
    this.ends.set(ends.subarray(0, count));
    this.bytes = source;
    this.length = count;
    this.byteLength = count === 0 ? 0 : (ends[count - 1] as number);
  }

  /** Adds this value until the column has that many. */
  padWith(length: number, value: Uint8Array): void {
    if (length <= this.length) return;
    const size = value.length;
    this.reserve(length, this.byteLength + (length - this.length) * size);
    const { bytes, ends } = this;
    let at = this.byteLength;
    for (let row = this.length; row < length; row++) {
      for (let i = 0; i < size; i++) bytes[at++] = value[i] as number;
      ends[row] = at;
    }
    this.length = length;
    this.byteLength = at;
  }

  /** Makes room for this many values with this many bytes in all, so that nothing is moved while they are pushed. */
  reserve(length: number, byteLength: number): void {
    if (length > this.ends.length) this.growEnds(length);
    if (byteLength > this.bytes.length) this.growBytes(byteLength);
  }

  /** Adds empty values until the column has this many. */
  padTo(length: number): void {
    if (length <= this.length) return;
    if (length > this.ends.length) this.growEnds(length);
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

  /** What the column holds in memory. */
  get byteSize(): number {
    return this.bytes.byteLength + this.ends.byteLength;
  }

  private get view(): DataView {
    this.madeView ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.madeView;
  }

  private makeRoom(size: number): void {
    if (this.byteLength + size > this.bytes.length) this.growBytes(this.byteLength + size);
    if (this.length === this.ends.length) this.growEnds(0);
  }

  /** Gives the memory back; the column is empty then. */
  release(): void {
    bytePool.give(this.bytes);
    wordPool.give(this.ends);
    this.bytes = noBytes;
    this.ends = noWords;
    this.madeView = undefined;
    this.length = 0;
    this.byteLength = 0;
  }

  /** Empties the column and keeps its memory for other rows, unless that is much. */
  clear(): void {
    if (this.bytes.length > keptBytesMax || this.ends.byteLength > keptBytesMax) this.release();
    this.length = 0;
    this.byteLength = 0;
  }

  private growBytes(needed: number): void {
    const grown = bytePool.take(grownSize(this.bytes.length, needed));
    copyBytes(this.bytes, 0, this.byteLength, grown, 0);
    bytePool.give(this.bytes);
    this.bytes = grown;
    this.madeView = undefined;
  }

  private growEnds(needed: number): void {
    const grown = wordPool.take(grownSize(this.ends.length, needed));
    grown.set(this.ends);
    wordPool.give(this.ends);
    this.ends = grown;
  }

  private finishValue(size: number): void {
    this.byteLength += size;
    this.ends[this.length++] = this.byteLength;
  }
}

/** A column inside another one. */
interface Inner {
  length: number;
  readonly byteSize: number;
  release(): void;
  clear(): void;
}

/** A column in which a row may be absent. The inner column holds a zero or '' there. */
export class NullableColumn<C extends Inner> {
  readonly nulls: UInt8Column = new UInt8Column();
  readonly inner: C;
  private readonly padInner: (inner: C, length: number) => void;

  constructor(inner: C, padInner: (inner: C, length: number) => void) {
    this.inner = inner;
    this.padInner = padInner;
  }

  get length(): number {
    return this.nulls.length;
  }

  pushNull(): void {
    this.padTo(this.nulls.length + 1);
  }

  /** Adds absent rows until the column has this many. */
  padTo(length: number): void {
    if (length <= this.nulls.length) return;
    this.nulls.padTo(length, 1);
    this.padInner(this.inner, length);
  }

  /** Marks the row as present; the caller then pushes its value onto `inner`. */
  present(): C {
    this.nulls.push(0);
    return this.inner;
  }

  isNull(row: number): boolean {
    return this.nulls.at(row) === 1;
  }

  get byteSize(): number {
    return this.nulls.byteSize + this.inner.byteSize;
  }

  release(): void {
    this.nulls.release();
    this.inner.release();
  }

  clear(): void {
    this.nulls.clear();
    this.inner.clear();
  }
}

export function nullableInt64(): NullableColumn<Int64Column> {
  return new NullableColumn(new Int64Column(), (inner, length) => inner.padZerosTo(length));
}

export function nullableFloat64(): NullableColumn<Float64Column> {
  return new NullableColumn(new Float64Column(), (inner, length) => inner.padTo(length, 0));
}

export function nullableString(): NullableColumn<StringColumn> {
  return new NullableColumn(new StringColumn(), (inner, length) => inner.padTo(length));
}

export function nullableUInt8(): NullableColumn<UInt8Column> {
  return new NullableColumn(new UInt8Column(), (inner, length) => inner.padTo(length, 0));
}

/** A list a row: all items back to back, and where each row's items end. */
export class ArrayColumn<C extends Inner> {
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

  get byteSize(): number {
    return this.ends.byteSize + this.items.byteSize;
  }

  release(): void {
    this.ends.release();
    this.items.release();
  }

  clear(): void {
    this.ends.clear();
    this.items.clear();
  }
}
