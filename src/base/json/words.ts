// Passing bytes four at a time, as the bytes of one 32-bit word. All byte order is little-endian; it does not matter
// for the tests, which look at each byte of the word alone.

/** Passes whole words of plain text: ASCII without quotes, backslashes and control characters. */
export function passPlainText(view: DataView, from: number, end: number): number {
  let p = from;
  for (const last = end - 4; p <= last; p += 4) {
    const word = view.getInt32(p, true);
    // Digits and lower-case letters, which is what ids are made of: bit 7 is clear, bit 5 set, and bit 4 or 6 set.
    if ((word & 0xa0a0a0a0) === 0x20202020 && ((word | (word << 2)) & 0x40404040) === 0x40404040) continue;
    if (hasSpecialByte(word)) return p;
  }
  return p;
}

/** The closing quote of a plain text that begins at `from`; -1 when the text has anything special in it. */
export function endOfPlainText(view: DataView, from: number, end: number): number {
  for (let p = passPlainText(view, from, end); p < end; p++) {
    const c = view.getUint8(p);
    if (c === 0x22) return p;
    if (c < 0x20 || c >= 0x80 || c === 0x5c) return -1;
  }
  return -1;
}

/** The end of the integer whose digits begin at `from`; -1 when it is not a plain integer. */
export function endOfPlainDigits(view: DataView, from: number, end: number): number {
  let p = passFourDigits(view, from, end);
  let c = 0;
  for (; p < end; p++) {
    c = view.getUint8(p);
    if (c < 0x30 || c > 0x39) break;
  }
  const hasLeadingZero = p > from + 1 && view.getUint8(from) === 0x30;
  return p === from || p === end || hasLeadingZero || c === 0x2e || c === 0x65 || c === 0x45 ? -1 : p;
}

/** Passes whole words of decimal digits. */
export function passFourDigits(view: DataView, from: number, end: number): number {
  let p = from;
  for (const last = end - 4; p <= last; p += 4) {
    const word = view.getInt32(p, true);
    // The upper half of each byte is 3, and still is after adding 6: so the lower half is at most 9.
    if (((word & 0xf0f0f0f0) | 0) !== 0x30303030 || (((word + 0x06060606) & 0xf0f0f0f0) | 0) !== 0x30303030) return p;
  }
  return p;
}

/** Whether a byte of the word is a quote, a backslash, below 0x20 or beyond ASCII. */
function hasSpecialByte(word: number): boolean {
  const quote = word ^ 0x22222222;
  const backslash = word ^ 0x5c5c5c5c;
  // Subtracting borrows into bit 7 of a byte that was too small; bytes with bit 7 set are special anyway.
  const small = (word - 0x20202020) | ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash);
  return ((small | word) & 0x80808080) !== 0;
}

/** Whether two texts of the same size, at least four bytes, are equal. */
export function isSameText(view: DataView, a: number, b: number, size: number): boolean {
  const last = size - 4;
  for (let i = 0; i < last; i += 4) if (view.getInt32(a + i, true) !== view.getInt32(b + i, true)) return false;
  return view.getInt32(a + last, true) === view.getInt32(b + last, true);
}

/** A short ASCII text as words: every fourth offset, and the last four bytes again when they fill no word. */
export class WordToken {
  readonly size: number;
  private readonly words: Int32Array;
  private readonly offsets: Int32Array;

  /** At least four characters. */
  constructor(text: string) {
    const view = new DataView(Uint8Array.from(text, (c) => c.charCodeAt(0)).buffer);
    this.size = text.length;
    const count = Math.ceil(text.length / 4);
    this.offsets = Int32Array.from({ length: count }, (_, i) => Math.min(i * 4, text.length - 4));
    this.words = this.offsets.map((offset) => view.getInt32(offset, true));
  }

  /** Whether the bytes from `p` are this text. */
  isAt(view: DataView, p: number, end: number): boolean {
    if (p + this.size > end) return false;
    const { words, offsets } = this;
    for (let i = 0; i < words.length; i++) {
      if (view.getInt32(p + (offsets[i] as number), true) !== words[i]) return false;
    }
    return true;
  }
}
