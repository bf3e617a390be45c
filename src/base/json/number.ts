// Number tokens to values. The cursor has already checked that the bytes are a number of the given form.

import { parseFloatToken } from "./double.ts";
import { decodeAscii } from "./text.ts";
import { numberForm } from "./tokens.ts";
import { NumberText } from "./value.ts";

const two32 = 4294967296;

/** A 64-bit integer as two words of 32 bits (signed), for Int64Column.pushWords; reused for every token. */
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
  // The value is (a * 10^9 + b) * 10^9 + c.
  let a = 0;
  let b = 0;
  let c = 0;
  if (digits <= 9) c = parseDigits(bytes, from, stop);
  else {
    c = parseNineDigits(bytes, stop - 9);
    if (digits <= 18) b = parseDigits(bytes, from, stop - 9);
    else if (digits > 19 || bytes[from] === 0x39) return parseLongInt64(bytes, start, stop, out);
    else {
      a = (bytes[from] as number) - 0x30;
      b = parseNineDigits(bytes, from + 1);
    }
  }
  // The low word wraps as 32-bit arithmetic does. The double below is off by at most 512, so what remains above
  // the low word is a multiple of 2^32 after rounding.
  const low = (Math.imul((Math.imul(a, 1e9) + b) | 0, 1e9) + c) | 0;
  const high = Math.round(((a * 1e9 + b) * 1e9 + c - (low >>> 0)) / two32) | 0;
  out.low = negative ? -low | 0 : low;
  out.high = negative ? (low === 0 ? -high | 0 : ~high) : high;
  return true;
}

function parseDigits(bytes: Uint8Array, start: number, stop: number): number {
  let value = 0;
  for (let i = start; i < stop; i++) value = (Math.imul(value, 10) + (bytes[i] as number) - 0x30) | 0;
  return value;
}

/** Written out, because nine products that do not wait for each other are faster than nine that do. */
function parseNineDigits(bytes: Uint8Array, p: number): number {
  const upper =
    Math.imul(bytes[p] as number, 100000000) +
    Math.imul(bytes[p + 1] as number, 10000000) +
    Math.imul(bytes[p + 2] as number, 1000000) +
    Math.imul(bytes[p + 3] as number, 100000);
  const lower =
    Math.imul(bytes[p + 4] as number, 10000) +
    Math.imul(bytes[p + 5] as number, 1000) +
    Math.imul(bytes[p + 6] as number, 100) +
    Math.imul(bytes[p + 7] as number, 10) +
    (bytes[p + 8] as number);
  // Every digit is 0x30 too large; the sums wrap, and so does this.
  return ((upper | 0) + (lower | 0) - Math.imul(0x30, 111111111)) | 0;
}

/** Integers of 19 digits and more, of which those from 9·10^18 may or may not fit. */
function parseLongInt64(bytes: Uint8Array, start: number, stop: number, out: Int64Words): boolean {
  if (stop - start > 20) return false;
  const value = BigInt(decodeAscii(bytes, start, stop));
  if (value !== BigInt.asIntN(64, value)) return false;
  out.low = Number(BigInt.asIntN(32, value));
  out.high = Number(BigInt.asIntN(32, value >> 32n));
  return true;
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

/** Digits alone, at most 15, which a double holds exactly; -1 for anything else. */
export function parseDigitsOnly(bytes: Uint8Array, start: number, stop: number): number {
  if (stop <= start || stop - start > 15) return -1;
  let value = 0;
  for (let i = start; i < stop; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function parseNonFinite(bytes: Uint8Array, start: number): number {
  const c = bytes[start];
  return c === 0x4e ? Number.NaN : c === 0x49 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
}
