// Number tokens to values. The cursor has already checked that the bytes are a number of the given form.

import { decodeAscii } from "./text.ts";
import { numberForm } from "./tokens.ts";
import { NumberText } from "./value.ts";

const two32 = 4294967296;
/** Every power of ten that a double holds exactly. */
const exactPowers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** A 64-bit integer as two words, ready for Int64Column.pushWords; re-used by its owner for every token. */
export interface Int64Words {
  low: number;
  high: number;
}

export function parseNumber(
  bytes: Uint8Array,
  start: number,
  stop: number,
  form: number,
): number | bigint | NumberText {
  if (form === numberForm.float) return parseFloatToken(bytes, start, stop);
  if (form === numberForm.nonFinite) return parseNonFinite(bytes, start);
  return parseInteger(bytes, start, stop);
}

/** A token of any form as a double, rounded as JSON.parse rounds it. */
export function parseDouble(bytes: Uint8Array, start: number, stop: number, form: number): number {
  if (form === numberForm.nonFinite) return parseNonFinite(bytes, start);
  if (form === numberForm.integer && stop - start <= 15) return parseShortInteger(bytes, start, stop);
  return parseFloatToken(bytes, start, stop);
}

/** Writes an integer token into `out`; false when it does not fit 64 bits (signed). */
export function parseInt64(bytes: Uint8Array, start: number, stop: number, out: Int64Words): boolean {
  const negative = bytes[start] === 0x2d;
  const from = negative ? start + 1 : start;
  const digits = stop - from;
  if (digits > 19) return false;
  // The last nine digits and the up to ten before them: both parts and their 48-bit products are exact doubles.
  const split = digits > 9 ? stop - 9 : from;
  let upper = 0;
  for (let i = from; i < split; i++) upper = upper * 10 + ((bytes[i] as number) - 0x30);
  let lower = 0;
  for (let i = split; i < stop; i++) lower = lower * 10 + ((bytes[i] as number) - 0x30);
  const upperLow = upper % 65536;
  const product = ((upper - upperLow) / 65536) * 1e9;
  const productLow = product % 65536;
  const sum = productLow * 65536 + upperLow * 1e9 + lower;
  const low = sum % two32;
  const high = (product - productLow) / 65536 + (sum - low) / two32;
  if (!negative) {
    out.low = low;
    out.high = high;
    return high < 0x80000000;
  }
  out.low = low === 0 ? 0 : two32 - low;
  out.high = low === 0 ? (two32 - high) % two32 : two32 - 1 - high;
  return high < 0x80000000 || (high === 0x80000000 && low === 0);
}

function parseInteger(bytes: Uint8Array, start: number, stop: number): number | bigint | NumberText {
  if (stop - start <= 17) {
    // Sums below 2^53 are exact, and one that is not below it cannot round to below it.
    const value = parseShortInteger(bytes, start, stop);
    if (Number.isSafeInteger(value)) return value;
  }
  const text = decodeAscii(bytes, start, stop);
  if (text.length > 20) return new NumberText(text);
  const exact = BigInt(text);
  return exact === BigInt.asIntN(64, exact) ? exact : new NumberText(text);
}

/** Exact as long as the result is a safe integer, which 15 bytes always are. */
function parseShortInteger(bytes: Uint8Array, start: number, stop: number): number {
  const negative = bytes[start] === 0x2d;
  let value = 0;
  for (let i = negative ? start + 1 : start; i < stop; i++) value = value * 10 + ((bytes[i] as number) - 0x30);
  return negative ? -value : value;
}

/**
 * When the digits without their point are an exact double and so is the power of ten, one division rounds once and
 * is therefore the nearest double. Everything else goes to the runtime.
 */
function parseFloatToken(bytes: Uint8Array, start: number, stop: number): number {
  if (stop - start <= 17) {
    const negative = bytes[start] === 0x2d;
    let value = 0;
    let point = -1;
    let i = negative ? start + 1 : start;
    for (; i < stop; i++) {
      const c = bytes[i] as number;
      if (c >= 0x30) {
        if (c > 0x39) break;
        value = value * 10 + (c - 0x30);
      } else if (c === 0x2e) point = i;
      else break;
    }
    if (i === stop && value <= Number.MAX_SAFE_INTEGER) {
      const magnitude = point < 0 ? value : value / (exactPowers[stop - point - 1] as number);
      return negative ? -magnitude : magnitude;
    }
  }
  return Number(decodeAscii(bytes, start, stop));
}

function parseNonFinite(bytes: Uint8Array, start: number): number {
  const c = bytes[start];
  return c === 0x4e ? Number.NaN : c === 0x49 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
}
