// Decimal text to the nearest double, in place, for the numbers that programs really print, and whether that double prints as
// the same text. Everything else is left to the slower code of base/json.

import { distance, divideExactly, exactPowers } from "./json/double.ts";
import { decodeAscii } from "./json/text.ts";

/** Decimals with up to this many digits come back unchanged from a double. */
const digitsExact = 15;
const digitsMax = 17;

export class ShortDecimal {
  /** The double that was read, alone in its array: a field would box every double that is put into it. */
  readonly out: Float64Array = new Float64Array(1);
  /** The double, printed with as many digits as the text has or as few as it needs, is the text again. */
  isExact = true;

  private exponent = 0;

  /**
   * Reads a JSON number at `at`; returns where it ends, or -1 if it is not a number of this kind. `view` is over
   * `bytes`. Digits are taken four at a time: the upper half of each byte is 3 and still is after adding 6.
   */
  read(bytes: Uint8Array, view: DataView, at: number): number {
    let i = at;
    const negative = bytes[i] === 0x2d;
    if (negative) i++;
    let c = bytes[i] as number;
    if (c < 0x30 || c > 0x39) return -1;
    // A zero before the point is no digit of the number, and nothing may stand between it and the point.
    let upper = 0;
    let digits = 0;
    if (c === 0x30) {
      c = bytes[++i] as number;
      if (c >= 0x30 && c <= 0x39) return -1;
    } else {
      const from = i;
      for (; c >= 0x30 && c <= 0x39; c = bytes[++i] as number) upper = upper * 10 + (c - 0x30);
      digits = i - from;
      // Longer whole parts leave no room for the exact halves below.
      if (digits > (c === 0x2e ? 12 : digitsExact)) return -1;
    }
    let lower = 0;
    let lowerDigits = 0;
    let scale = 0;
    if (c === 0x2e) {
      const point = ++i;
      c = bytes[i] as number;
      if (digits === 0) for (; c === 0x30; c = bytes[++i] as number);
      const from = i;
      const last = view.byteLength - 4;
      // The first nine to twelve digits are one half, the rest the other: both, and the first shifted by the second,
      // are exact doubles.
      for (; i <= last && digits + i - from < 9; i += 4) {
        const word = view.getInt32(i, true);
        if (((word & 0xf0f0f0f0) | 0) !== 0x30303030 || (((word + 0x06060606) & 0xf0f0f0f0) | 0) !== 0x30303030) break;
        const pairs = (Math.imul(word & 0x0f0f0f0f, 10) + ((word & 0x0f0f0f0f) >>> 8)) & 0x00ff00ff;
        upper = upper * 10000 + Math.imul(pairs & 0xff, 100) + (pairs >>> 16);
      }
      c = bytes[i] as number;
      for (; digits + i - from < 9 && c >= 0x30 && c <= 0x39; c = bytes[++i] as number) upper = upper * 10 + (c - 0x30);
      const half = i;
      for (; i <= last; i += 4) {
        const word = view.getInt32(i, true);
        if (((word & 0xf0f0f0f0) | 0) !== 0x30303030 || (((word + 0x06060606) & 0xf0f0f0f0) | 0) !== 0x30303030) break;
        const pairs = (Math.imul(word & 0x0f0f0f0f, 10) + ((word & 0x0f0f0f0f) >>> 8)) & 0x00ff00ff;
        lower = lower * 10000 + Math.imul(pairs & 0xff, 100) + (pairs >>> 16);
      }
      c = bytes[i] as number;
      for (; c >= 0x30 && c <= 0x39; c = bytes[++i] as number) lower = lower * 10 + (c - 0x30);
      lowerDigits = i - half;
      digits += i - from;
      scale = i - point;
      if (scale === 0) return -1;
    }
    if (c === 0x65 || c === 0x45) {
      i = this.readExponent(bytes, i + 1);
      if (i < 0) return -1;
      scale -= this.exponent;
    }
    if (digits > digitsMax || scale > 22 || scale < -22) return -1;
    this.isExact = true;
    const { out } = this;
    const high = upper * (exactPowers[lowerDigits] as number);
    if (digits <= digitsExact) {
      const whole = high + lower;
      out[0] = scale < 0 ? whole * (exactPowers[-scale] as number) : whole / (exactPowers[scale] as number);
    } else if (scale < 0 || !this.divide(high, lower, exactPowers[scale] as number)) return -1;
    if (negative) out[0] = -(out[0] as number);
    // A double halfway between two texts is printed as the even one: let the runtime print it.
    if (!this.isExact) this.isExact = String(out[0]) === decodeAscii(bytes, at, i);
    return i;
  }

  private divide(high: number, low: number, divisor: number): boolean {
    const value = divideExactly(high, low, divisor);
    if (Number.isNaN(value)) return false;
    this.out[0] = value;
    this.isExact = distance(high, low, divisor, value) < 0.499999;
    return true;
  }

  private readExponent(bytes: Uint8Array, at: number): number {
    const sign = bytes[at];
    let i = sign === 0x2b || sign === 0x2d ? at + 1 : at;
    const from = i;
    let exponent = 0;
    for (let c = bytes[i] as number; c >= 0x30 && c <= 0x39 && i < from + 4; c = bytes[++i] as number) {
      exponent = exponent * 10 + (c - 0x30);
    }
    if (i === from || i === from + 4) return -1;
    this.exponent = sign === 0x2d ? -exponent : exponent;
    return i;
  }
}
