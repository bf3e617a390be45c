// A growable byte buffer with the few primitives of ClickHouse's Native format.
// All integers are little-endian. `reserve` is called once per column, so the write
// methods themselves never check for room.

import { bytePool } from "#base/array-pool.ts";
import { copyBytes } from "#base/copy-bytes.ts";

const textEncoder = new TextEncoder();
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

export class ByteSink {
  bytes: Uint8Array;
  length = 0;

  constructor(size = 4096) {
    this.bytes = bytePool.take(size);
  }

  /** Makes room for `size` more bytes. */
  reserve(size: number): void {
    const need = this.length + size;
    if (need <= this.bytes.length) return;
    const grown = bytePool.take(Math.max(need, this.bytes.length * 2));
    copyBytes(this.bytes, 0, this.length, grown, 0);
    bytePool.give(this.bytes);
    this.bytes = grown;
  }

  /** LEB128, as used for counts and string lengths; at most five bytes for 32 bits. */
  writeVarint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  writeByte(value: number): void {
    this.bytes[this.length++] = value;
  }

  writeUInt32(value: number): void {
    let rest = value;
    for (let i = 0; i < 4; i++, rest >>>= 8) this.bytes[this.length++] = rest & 255;
  }

  writeFloat64(value: number): void {
    double[0] = value;
    for (let i = 0; i < 8; i++) this.bytes[this.length++] = doubleBytes[i] as number;
  }

  writeUInt64(value: number): void {
    let low = value >>> 0;
    let high = Math.floor(value / 4294967296);
    for (let i = 0; i < 4; i++, low >>>= 8) this.bytes[this.length++] = low & 255;
    for (let i = 0; i < 4; i++, high >>>= 8) this.bytes[this.length++] = high & 255;
  }

  writeBytes(source: Uint8Array): void {
    copyBytes(source, 0, source.length, this.bytes, this.length);
    this.length += source.length;
  }

  /** Reserves for itself. */
  writeText(text: string): void {
    if (text.length < 128 && this.tryPlain(text)) return;
    const encoded = textEncoder.encode(text);
    this.reserve(encoded.length + 5);
    this.writeVarint(encoded.length);
    this.writeBytes(encoded);
  }

  /** A short text of plain letters, whose length is one byte: most keys of dictionaries are. */
  private tryPlain(text: string): boolean {
    this.reserve(text.length + 1);
    const { bytes, length } = this;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) return false;
      bytes[length + 1 + at] = code;
    }
    bytes[length] = text.length;
    this.length += text.length + 1;
    return true;
  }

  /** A view of what was written; the sink must not be used after it. */
  finish(): Uint8Array {
    const written = this.bytes.subarray(0, this.length);
    memories.set(written, this.bytes);
    return written;
  }
}

/** The memory behind the view that `finish` returned. */
const memories = new WeakMap<Uint8Array, Uint8Array>();

/** Returns the memory of what a sink has written, once nobody reads it any more. */
export function releaseWritten(written: Uint8Array): void {
  const memory = memories.get(written);
  if (memory === undefined) return;
  memories.delete(written);
  bytePool.give(memory);
}
