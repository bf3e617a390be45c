// Writes protobuf's wire format. An inner message is written first and measured afterwards, and then its bytes move once to
// make room for its length, which is cheaper than computing every size beforehand. If the size of a large message is known
// roughly, room for its length is left, and it does not move at all.

import { ByteWriter } from "#base/byte-writer.ts";
import { wireType } from "./protobuf.ts";

const two32 = 4294967296;
const safeMax = BigInt(Number.MAX_SAFE_INTEGER);
const textEncoder = new TextEncoder();
const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

/** Larger results are handed over instead of copied. */
const copiedBytesMax = 1024 * 1024;

export class ProtoWriter {
  private out = new ByteWriter(1024);
  /** The bytes that the length of a message is expected to take. */
  private readonly gap: number;

  /** About how many bytes the largest message will have. */
  constructor(expectedBytes = 0) {
    this.gap = expectedBytes < copiedBytesMax ? 0 : varintSize(expectedBytes);
  }

  /** The bytes so far; the caller owns them. */
  finish(): Uint8Array {
    const written = this.out.view();
    if (written.length < copiedBytesMax) return written.slice();
    this.out = new ByteWriter(1024);
    return written;
  }

  get length(): number {
    return this.out.length;
  }

  clear(): void {
    this.out.clear();
  }

  varint(field: number, value: bigint): void {
    this.tag(field, wireType.varint);
    this.bigVarint(BigInt.asUintN(64, value));
  }

  /** A non-negative safe integer. */
  smallVarint(field: number, value: number): void {
    this.tag(field, wireType.varint);
    this.plainVarint(value);
  }

  fixed64(field: number, value: bigint): void {
    this.tag(field, wireType.eight);
    scratch.setBigUint64(0, BigInt.asUintN(64, value), true);
    this.out.raw(scratchBytes);
  }

  double(field: number, value: number): void {
    this.tag(field, wireType.eight);
    scratch.setFloat64(0, value, true);
    this.out.raw(scratchBytes);
  }

  fixed32(field: number, value: number): void {
    this.tag(field, wireType.four);
    scratch.setUint32(0, value, true);
    this.out.raw(scratchBytes.subarray(0, 4));
  }

  bytes(field: number, value: Uint8Array): void {
    this.tag(field, wireType.bytes);
    this.plainVarint(value.length);
    this.out.raw(value);
  }

  text(field: number, value: string): void {
    if (value.length < copiedBytesMax) {
      this.bytes(field, Buffer.from(value));
      return;
    }
    const size = Buffer.byteLength(value);
    this.tag(field, wireType.bytes);
    this.plainVarint(size);
    this.out.reserve(size);
    textEncoder.encodeInto(value, this.out.bytes.subarray(this.out.length));
    this.out.length += size;
  }

  /** Numbers of eight bytes, or varints, back to back in one field. */
  packed(
    field: number,
    values: readonly (bigint | number)[],
    write: (out: ProtoWriter, value: bigint | number) => void,
  ) {
    this.message(field, () => {
      for (const value of values) write(this, value);
    });
  }

  plainDouble(value: number): void {
    scratch.setFloat64(0, value, true);
    this.out.raw(scratchBytes);
  }

  plainFixed64(value: bigint): void {
    scratch.setBigUint64(0, BigInt.asUintN(64, value), true);
    this.out.raw(scratchBytes);
  }

  bigVarint(value: bigint): void {
    if (value <= safeMax) {
      this.plainVarint(Number(value));
      return;
    }
    let rest = value;
    while (rest >= 0x80n) {
      this.out.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.out.byte(Number(rest));
  }

  /** Fields as they came, tags included. */
  raw(fields: Uint8Array): void {
    this.out.raw(fields);
  }

  message(field: number, fill: () => void): void {
    this.tag(field, wireType.bytes);
    const { out, gap } = this;
    const at = out.length;
    out.reserve(gap);
    out.length = at + gap;
    fill();
    const size = out.length - at - gap;
    const head = varintSize(size);
    if (head !== gap) {
      out.reserve(head);
      move(out.bytes, at + gap, at + head, size);
    }
    out.length = at;
    this.plainVarint(size);
    out.length = at + head + size;
  }

  private tag(field: number, wire: number): void {
    this.plainVarint(field * 8 + wire);
  }

  private plainVarint(value: number): void {
    let rest = value;
    while (rest >= two32) {
      this.out.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    while (rest >= 0x80) {
      this.out.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.out.byte(rest);
  }
}

/** Most messages are a few bytes, for which a loop is faster than the runtime's own copy. */
function move(bytes: Uint8Array, from: number, to: number, size: number): void {
  if (size >= 64) bytes.copyWithin(to, from, from + size);
  else if (to < from) for (let i = 0; i < size; i++) bytes[to + i] = bytes[from + i] as number;
  else for (let i = size - 1; i >= 0; i--) bytes[to + i] = bytes[from + i] as number;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}
