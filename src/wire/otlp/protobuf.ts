// Reads protobuf's wire format in place, without an object or a copy per field. A message is a sequence of fields,
//
//   tag, a varint of number * 8 + wire type · value: 0 varint · 1 eight bytes · 2 length, bytes · 5 four bytes
//
// and groups (3 … 4), which no current writer makes, are passed over. Nothing here throws: bytes that are not a message
// set `bad`, and the reader of the message decides what that spoils.

export const wireType = { varint: 0, eight: 1, bytes: 2, group: 3, groupEnd: 4, four: 5 } as const;

/** No real message nests groups deeper. */
const groupDepthMax = 32;

export class ProtoReader {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  pos = 0;
  bad = false;
  /** Of the field that was read last: its number and wire type… */
  field = 0;
  wire = 0;
  /** …where it begins, tag included, and where its value begins and ends… */
  start = 0;
  from = 0;
  to = 0;
  /** …and a varint's value as two words; an eight-byte value is read by `view`. */
  low = 0;
  high = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Reads the next field of a message that ends at `end`; false at its end, or when the bytes are bad. */
  next(end: number): boolean {
    if (this.pos >= end || this.bad) return false;
    this.start = this.pos;
    // Every field that OTLP has so far fits a tag of one or two bytes.
    const first = this.bytes[this.pos] as number;
    let tag = first;
    if (first < 0x80) this.pos++;
    else {
      if (!this.varint(end)) return false;
      if (this.high !== 0) return this.fail();
      tag = this.low;
    }
    this.field = tag >>> 3;
    this.wire = tag & 7;
    if (this.field === 0) return this.fail();
    return this.value(end);
  }

  /** Enters the field that was read last, a message, and returns its end, where the caller continues afterwards. */
  enter(): number {
    this.pos = this.from;
    return this.to;
  }

  /** Unsigned, as a double: exact up to 2 ** 53. */
  get number(): number {
    return this.high * 4294967296 + this.low;
  }

  /** Reads a varint without a tag at `pos`. */
  bareVarint(end: number): boolean {
    return this.varint(end);
  }

  private value(end: number): boolean {
    this.from = this.pos;
    switch (this.wire) {
      case wireType.varint:
        if (!this.varint(end)) return false;
        this.to = this.pos;
        return true;
      case wireType.bytes: {
        const size = this.bytes[this.pos] as number;
        if (size < 0x80 && this.pos < end) {
          this.low = size;
          this.high = 0;
          this.pos++;
        } else if (!this.varint(end)) return false;
        this.from = this.pos;
        return this.pass(this.high === 0 ? this.low : Number.POSITIVE_INFINITY, end);
      }
      case wireType.eight:
        return this.pass(8, end);
      case wireType.four:
        return this.pass(4, end);
      case wireType.group:
        return this.group(end, 0);
      default:
        return this.fail();
    }
  }

  private pass(size: number, end: number): boolean {
    this.to = this.from + size;
    if (this.to > end) return this.fail();
    this.pos = this.to;
    return true;
  }

  private group(end: number, depth: number): boolean {
    const { field, start, from } = this;
    if (depth > groupDepthMax) return this.fail();
    for (;;) {
      if (this.pos >= end || !this.varint(end)) return this.fail();
      const wire = this.low & 7;
      const number = this.low >>> 3;
      if (wire === wireType.groupEnd) {
        if (number !== field) return this.fail();
        break;
      }
      this.wire = wire;
      this.field = number;
      if (wire === wireType.group ? !this.group(end, depth + 1) : !this.value(end)) return this.fail();
    }
    this.field = field;
    this.wire = wireType.group;
    this.start = start;
    this.from = from;
    this.to = this.pos;
    return true;
  }

  /** At most ten bytes; bits beyond 64 are dropped, as in every reader. */
  private varint(end: number): boolean {
    const { bytes } = this;
    let p = this.pos;
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (p >= end) return this.fail();
      const byte = bytes[p++] as number;
      const part = byte & 0x7f;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else high |= part << (shift - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        this.pos = p;
        return true;
      }
    }
    return this.fail();
  }

  private fail(): false {
    this.bad = true;
    return false;
  }
}
