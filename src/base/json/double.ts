// Decimal digits to the nearest double, without making a string for most of them.

import { decodeAscii } from "./text.ts";

/** Every power of ten that a double holds exactly. */
export const exactPowers: Float64Array = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * The digits without their point are an integer m below 10^18, and 10^k is an exact double up to k = 22, so the value
 * is m / 10^k or m * 10^k. The quotient is computed to about 100 bits: a first guess, and the exact remainder divided
 * once more. When that decides the last bit beyond doubt it is the nearest double; else, and for all other tokens,
 * the runtime decides.
 */
export function parseFloatToken(bytes: Uint8Array, start: number, stop: number): number {
  const negative = bytes[start] === 0x2d;
  let upper = 0;
  let lower = 0;
  let digits = 0;
  let scale = 0;
  let hasPoint = false;
  let p = negative ? start + 1 : start;
  for (; p < stop; p++) {
    const digit = (bytes[p] as number) - 0x30;
    if (digit < 0) {
      hasPoint = true;
      continue;
    }
    if (digit > 9) break;
    if (hasPoint) scale++;
    if (digits < 9) upper = upper * 10 + digit;
    else lower = lower * 10 + digit;
    if (digits > 0 || digit > 0) digits++;
  }
  if (p < stop) scale -= parseExponent(bytes, p + 1, stop);
  if (digits > 18 || scale < 0 || scale > 22) return Number(decodeAscii(bytes, start, stop));
  // `upper` holds the first nine significant digits, `lower` the rest.
  const high = digits > 9 ? upper * (exactPowers[digits - 9] as number) : upper;
  const magnitude = divideExactly(high, lower, exactPowers[scale] as number);
  if (Number.isNaN(magnitude)) return Number(decodeAscii(bytes, start, stop));
  return negative ? -magnitude : magnitude;
}

/** The digits after `e`, with their sign. */
function parseExponent(bytes: Uint8Array, start: number, stop: number): number {
  const sign = bytes[start];
  const from = sign === 0x2d || sign === 0x2b ? start + 1 : start;
  let value = 0;
  for (let p = from; p < stop && value < 10000; p++) value = value * 10 + ((bytes[p] as number) - 0x30);
  return sign === 0x2d ? -value : value;
}

/** Splits a double into two of 26 bits, whose products are exact. */
const splitter = 134217729;
/** Much larger than the error of the quotient below, and much smaller than the last bit of a double. */
const doubt = 2 ** -98;

/** (high + low) / divisor rounded to the nearest double, or NaN when that is in doubt. All are exact integers. */
export function divideExactly(high: number, low: number, divisor: number): number {
  const sum = high + low;
  // An exact integer over an exact integer: one rounding.
  if (sum <= Number.MAX_SAFE_INTEGER) return sum / divisor;
  const guess = sum / divisor;
  const rest = restOf(high, low, divisor, guess) / divisor;
  const margin = guess * doubt;
  const nearest = guess + rest;
  return guess + (rest - margin) === nearest && guess + (rest + margin) === nearest ? nearest : Number.NaN;
}

/** |high + low - value * divisor|: how far the double is from the digits, in units of their last place. */
export function distance(high: number, low: number, divisor: number, value: number): number {
  return Math.abs(restOf(high, low, divisor, value));
}

/** high + low - value * divisor, with the product taken exactly. */
function restOf(high: number, low: number, divisor: number, value: number): number {
  const product = value * divisor;
  const valueHigh = splitter * value - (splitter * value - value);
  const valueLow = value - valueHigh;
  const divisorHigh = splitter * divisor - (splitter * divisor - divisor);
  const divisorLow = divisor - divisorHigh;
  const productLow =
    valueHigh * divisorHigh - product + valueHigh * divisorLow + valueLow * divisorHigh + valueLow * divisorLow;
  return high - product + low - productLow;
}
