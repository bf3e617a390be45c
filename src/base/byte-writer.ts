// Text straight into bytes: for encoders that write many small pieces. Building strings first would
// cost a rope, its flattening, a copy and the garbage collector for every record.

const encoder = new TextEncoder();
/** The runtime's own encoder is faster from here on, and knows how many bytes it needs. */
const longText = 1024;
const hexDigits: Uint8Array = encoder.encode("0123456789abcdef");

/** ASCII bytes of a piece that is written often. */
export function toAscii(text: string): Uint8Array {
  return encoder.encode(text);
}

export class ByteWriter {
  bytes: Uint8Array;
  length = 0;

  constructor(sizeBytes: number) {
    this.bytes = new Uint8Array(sizeBytes);
  }

  /** A view of what was written, valid until the next write. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Makes room for `size` more bytes. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    // A little more than needed, so that what follows a large piece does not move it again.
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, needed + (needed >>> 3)));
    grown.set(this.view());
    this.bytes = grown;
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1);
    this.bytes[this.length++] = value;
  }

  raw(source: Uint8Array, start = 0, end: number = source.length): void {
    const size = end - start;
    this.reserve(size);
    const { bytes, length } = this;
    // Below about 64 bytes a plain loop beats the call into the runtime's memcpy.
    if (size < 64) for (let i = 0; i < size; i++) bytes[length + i] = source[start + i] as number;
    else bytes.set(source.subarray(start, end), length);
    this.length = length + size;
  }

  /** Any text as UTF-8; plain ASCII is the fast path. */
  text(text: string): void {
    const size = text.length;
    if (size > longText) {
      this.raw(encoder.encode(text));
      return;
    }
    this.reserve(size * 3);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < size; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        const { written } = encoder.encodeInto(text.slice(i), bytes.subarray(at));
        this.length = at + written;
        return;
      }
      bytes[at++] = code;
    }
    this.length = at;
  }

  /** Writes the `size` bytes at `from` again. */
  repeat(from: number, size: number): void {
    this.reserve(size);
    this.bytes.copyWithin(this.length, from, from + size);
    this.length += size;
  }

  /** Nine decimal digits, with leading zeros, of an integer below 10^9. */
  nineDigits(value: number): void {
    this.reserve(9);
    const { bytes, length } = this;
    const high = (value / 1_000_000) | 0;
    const low = value - high * 1_000_000;
    const middle = (low / 1000) | 0;
    putThreeDigits(bytes, length, high);
    putThreeDigits(bytes, length + 3, middle);
    putThreeDigits(bytes, length + 6, low - middle * 1000);
    this.length = length + 9;
  }

  /** Twelve hexadecimal digits of a non-negative integer below 2^48. */
  twelveHexDigits(value: number): void {
    this.reserve(12);
    this.setTwelveHexDigits(this.length, value);
    this.length += 12;
  }

  /** The same over bytes that are written already. */
  setTwelveHexDigits(at: number, value: number): void {
    const high = Math.floor(value / 0x100_0000);
    putSixHexDigits(this.bytes, at, high);
    putSixHexDigits(this.bytes, at + 6, value - high * 0x100_0000);
  }
}

// The digits of 000 … 999, three bytes each: one look-up for three divisions.
const threeDigits: Uint8Array = encoder.encode(
  Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, "0")).join(""),
);

function putThreeDigits(bytes: Uint8Array, at: number, value: number): void {
  const from = value * 3;
  bytes[at] = threeDigits[from] as number;
  bytes[at + 1] = threeDigits[from + 1] as number;
  bytes[at + 2] = threeDigits[from + 2] as number;
}

function putSixHexDigits(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = hexDigits[value >> 20] as number;
  bytes[at + 1] = hexDigits[(value >> 16) & 15] as number;
  bytes[at + 2] = hexDigits[(value >> 12) & 15] as number;
  bytes[at + 3] = hexDigits[(value >> 8) & 15] as number;
  bytes[at + 4] = hexDigits[(value >> 4) & 15] as number;
  bytes[at + 5] = hexDigits[value & 15] as number;
}
