// The tokens of JSON text: strings, numbers, literals and blanks, as offsets and flags. JsonCursor adds the structure.

import { hexDigit, isShortEscape, nameByte } from "./byte-class.ts";
import { type PassedValue, type PassedValues, passedIn } from "./passed-values.ts";
import { defaultJsonLimits, type JsonFault, type JsonLimits, JsonTrouble, jsonDepthCeiling } from "./value.ts";
import { passFourDigits, passPlainText } from "./words.ts";

/** What `peek` found. */
export const jsonKind = {
  bad: 0,
  object: 1,
  array: 2,
  string: 3,
  number: 4,
  true: 5,
  false: 6,
  null: 7,
} as const;

export const kindOfByte = new Uint8Array(256);
kindOfByte[0x7b] = jsonKind.object;
kindOfByte[0x5b] = jsonKind.array;
kindOfByte[0x22] = jsonKind.string;
kindOfByte[0x74] = jsonKind.true;
kindOfByte[0x66] = jsonKind.false;
kindOfByte[0x6e] = jsonKind.null;
for (const c of "-0123456789NI") kindOfByte[c.charCodeAt(0)] = jsonKind.number;

const latin = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const literalNull = latin("null");
const literalTrue = latin("true");
const literalFalse = latin("false");
const literalNan = latin("NaN");
const literalInfinity = latin("Infinity");

/** The forms of a number token. */
export const numberForm = { integer: 0, float: 1, nonFinite: 2 } as const;

export class JsonTokens {
  bytes: Uint8Array;
  /** The next unread byte. */
  pos: number;
  /** Where the input ends; nothing at or after it is read. */
  end: number;
  depth = 0;
  readonly depthMax: number;

  /** The last string (without its quotes), key or number: `bytes[start..stop)`. */
  start = 0;
  stop = 0;
  /** The last string or key has backslash escapes. */
  escaped = false;
  /** The last string or key has bytes beyond ASCII. */
  wide = false;
  /** The last string or key has half of a surrogate pair. */
  lone = false;
  /** The last number is one of `numberForm`. */
  form = 0;
  /** Set when blanks between tokens were passed; only the caller clears it. */
  blanks = false;
  /** Over `bytes`, for reading four bytes at a time; null for short texts, where it costs more than it saves. */
  private view: DataView | null = null;
  private passed: PassedValues | null = null;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length, limits: JsonLimits = defaultJsonLimits) {
    this.bytes = bytes;
    this.pos = start;
    this.end = end;
    this.view = viewOf(bytes, start, end);
    this.passed = passedIn(bytes, start, end);
    this.depthMax = Math.min(limits.depthMax, jsonDepthCeiling);
    if (end - start > limits.bytesMax) {
      this.fail("size", `the text has ${end - start} bytes, the limit is ${limits.bytesMax}`, start);
    }
  }

  /** Aims the cursor at another text, so that one cursor can serve a stream of them. */
  reset(bytes: Uint8Array, start = 0, end: number = bytes.length): void {
    this.bytes = bytes;
    this.pos = start;
    this.end = end;
    this.view = viewOf(bytes, start, end);
    this.passed = passedIn(bytes, start, end);
    this.depth = 0;
  }

  /** Passes a long value that begins here if it was looked through before; otherwise undefined, and nothing is passed. */
  passKnown(): PassedValue | undefined {
    const value = this.passed?.get(this.pos);
    if (value === undefined || value.end > this.end) return undefined;
    this.start = this.pos + 1;
    this.stop = value.end - 1;
    this.pos = value.end;
    this.escaped = value.escaped;
    this.wide = value.wide;
    this.lone = value.lone;
    return value;
  }

  /** To be called after more of these bytes were looked through. */
  lookAgain(): void {
    this.passed = passedIn(this.bytes, this.pos, this.end);
  }

  /** Passes a value that is not a container. `kind` is what `peek` gave. */
  passScalar(kind: number): void {
    if (kind === jsonKind.string) this.passString();
    else if (kind === jsonKind.number) this.passNumber();
    else if (kind === jsonKind.null) this.passLiteral(literalNull);
    else if (kind === jsonKind.true) this.passLiteral(literalTrue);
    else this.passLiteral(literalFalse);
  }

  /** Checks that only blanks are left. */
  finish(): void {
    if (this.skipBlanks() >= 0) this.fail("syntax", "text after the end of the JSON value", this.pos);
  }

  fail(kind: JsonFault["kind"], reason: string, offset: number): never {
    throw new JsonTrouble(kind, reason, offset);
  }

  failExpected(what: string): never {
    const found = this.pos >= this.end ? "the text ends" : `found ${nameByte(this.bytes[this.pos] as number)}`;
    this.fail("syntax", `expected ${what}, ${found}`, this.pos);
  }

  /** The next byte that is not a blank, without reading it; -1 at the end. */
  skipBlanks(): number {
    if (this.pos < this.end) {
      const c = this.bytes[this.pos] as number;
      if (c > 0x20) return c;
    }
    return this.passBlanks();
  }

  private passBlanks(): number {
    const { bytes, end } = this;
    for (let p = this.pos; p < end; p++) {
      const c = bytes[p] as number;
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) {
        this.pos = p;
        return c;
      }
      this.blanks = true;
    }
    this.pos = end;
    return -1;
  }

  /** `pos` is at the opening quote. */
  protected passString(): void {
    if (this.passed !== null && this.passKnown() !== undefined) return;
    this.openString();
    this.passText(this.end);
  }

  /** The first half of passing a string; the other is `passText`. `pos` is at the opening quote. */
  openString(): void {
    this.pos++;
    this.start = this.pos;
    this.escaped = false;
    this.wide = false;
    this.lone = false;
  }

  /** Passes an opened string to its end, or to about this place; false when there is more of it. */
  passText(until: number): boolean {
    const { bytes, end, view } = this;
    const limit = Math.min(until, end);
    let p = this.pos;
    while (p < limit) {
      if (view !== null) p = passPlainText(view, p, limit);
      // One byte after the other until one that is special was passed, then words again.
      for (; p < limit; p++) {
        const c = bytes[p] as number;
        if (c === 0x22) {
          this.stop = p;
          this.pos = p + 1;
          return true;
        }
        if (c === 0x5c) p = this.passEscape(p);
        else if (c >= 0x80) p = this.passWide(p, c);
        else if (c < 0x20) this.fail("syntax", `control character ${nameByte(c)} in a string`, p);
        else continue;
        p++;
        break;
      }
    }
    this.pos = p;
    if (p < end) return false;
    return this.fail("syntax", "the text ends inside a string", end);
  }

  /** `p` is at the backslash; returns the last byte of the escape. */
  private passEscape(p: number): number {
    this.escaped = true;
    const c = p + 1 < this.end ? (this.bytes[p + 1] as number) : -1;
    if (c !== 0x75) {
      if (c < 0 || !isShortEscape(c)) this.fail("syntax", "unknown escape in a string", Math.min(p + 1, this.end));
      return p + 1;
    }
    const unit = this.readHex4(p + 2);
    if (unit < 0xd800 || unit > 0xdfff) return p + 5;
    const paired =
      unit < 0xdc00 &&
      p + 7 < this.end &&
      this.bytes[p + 6] === 0x5c &&
      this.bytes[p + 7] === 0x75 &&
      this.readHex4(p + 8) >> 10 === 0x37;
    if (paired) return p + 11;
    this.lone = true;
    return p + 5;
  }

  private readHex4(p: number): number {
    let unit = 0;
    for (let i = p; i < p + 4; i++) {
      const digit = i < this.end ? hexDigit(this.bytes[i] as number) : -1;
      if (digit < 0) this.fail("syntax", "four hex digits must follow \\u", Math.min(i, this.end));
      unit = unit * 16 + digit;
    }
    return unit;
  }

  /** `p` is at the first byte of a UTF-8 sequence; returns its last byte. */
  private passWide(p: number, lead: number): number {
    this.wide = true;
    const { bytes, end } = this;
    const size =
      lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (size === 0 || p + size > end) this.fail("syntax", "invalid UTF-8", p);
    const second = bytes[p + 1] as number;
    // Overlong forms, surrogates and code points beyond U+10FFFF all show in the second byte.
    const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < low || second > high) this.fail("syntax", "invalid UTF-8", p);
    for (let i = 2; i < size; i++) {
      if (((bytes[p + i] as number) & 0xc0) !== 0x80) this.fail("syntax", "invalid UTF-8", p);
    }
    return p + size - 1;
  }

  /** `pos` is at a byte that can start a number. */
  protected passNumber(): void {
    const { bytes, end } = this;
    let p = this.pos;
    this.start = p;
    if (bytes[p] === 0x2d) p++;
    const first = p < end ? (bytes[p] as number) : -1;
    if (first === 0x30) p++;
    else if (first > 0x30 && first <= 0x39) p = this.passDigits(p + 1);
    else {
      this.passNonFinite(p, first);
      return;
    }
    let c = p < end ? (bytes[p] as number) : -1;
    this.form = numberForm.integer;
    if (c === 0x2e) {
      this.form = numberForm.float;
      p = this.passSomeDigits(p + 1);
      c = p < end ? (bytes[p] as number) : -1;
    }
    if (c === 0x65 || c === 0x45) {
      this.form = numberForm.float;
      const sign = p + 1 < end ? (bytes[p + 1] as number) : -1;
      p = this.passSomeDigits(sign === 0x2b || sign === 0x2d ? p + 2 : p + 1);
    }
    this.stop = p;
    this.pos = p;
  }

  private passDigits(from: number): number {
    const { bytes, end } = this;
    let p = this.view === null ? from : passFourDigits(this.view, from, end);
    while (p < end && (bytes[p] as number) >= 0x30 && (bytes[p] as number) <= 0x39) p++;
    return p;
  }

  private passSomeDigits(from: number): number {
    const p = this.passDigits(from);
    if (p > from) return p;
    this.pos = from;
    return this.failExpected("a digit");
  }

  private passNonFinite(p: number, first: number): void {
    const isNan = first === 0x4e && p === this.start;
    if (!isNan && first !== 0x49) {
      this.pos = p;
      this.failExpected("a digit");
    }
    this.pos = p;
    this.passLiteral(isNan ? literalNan : literalInfinity);
    this.form = numberForm.nonFinite;
    this.stop = this.pos;
  }

  protected passLiteral(literal: Uint8Array): void {
    const { bytes, pos } = this;
    for (let i = 0; i < literal.length; i++) {
      if (pos + i >= this.end || bytes[pos + i] !== literal[i]) {
        this.pos = pos + i;
        this.failExpected(`the literal ${new TextDecoder().decode(literal)}`);
      }
    }
    this.pos = pos + literal.length;
  }
}

const viewBytesMin = 1024;

function viewOf(bytes: Uint8Array, start: number, end: number): DataView | null {
  return end - start < viewBytesMin ? null : new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
