// Where the marks of a value axis stand, and what is written beside them: never two alike, never a wall of lines.

import { largestOf, smallestOf } from "#base/extremes.ts";
import { formatNumber } from "../text/format-number.ts";
import { niceTicks, type Range, type YScale } from "./scale.ts";

const symlogDecades = 6;

/** Where a symlog axis turns from linear to logarithmic: a power of ten near the least value that is not 0. */
export function symlogLinear(values: Iterable<number | null>): number {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const value of values) {
    if (value === null || value === 0 || !Number.isFinite(value)) continue;
    least = Math.min(least, Math.abs(value));
    most = Math.max(most, Math.abs(value));
  }
  if (most === 0) return 1;
  return 10 ** Math.floor(Math.log10(Math.max(least, most / 10 ** symlogDecades)));
}

/** At least two where the range allows it, and about `count`. */
export function valueTicks(scale: YScale, range: Range, linear: number, count: number): number[] {
  if (scale === "log") return logTicks(range, count);
  if (scale === "symlog") return symlogTicks(range, linear, count);
  const ticks = niceTicks(range, count);
  return ticks.length >= 2 ? ticks : niceTicks(range, count * 2);
}

/** Powers of ten, thinned; within less than two of them 1, 2, 5; within less still, round steps. */
function logTicks(range: Range, count: number): number[] {
  const inside = (tick: number) => tick >= range.min && tick <= range.max;
  const low = Math.floor(Math.log10(range.min));
  const high = Math.ceil(Math.log10(range.max));
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).filter(inside);
  if (powers.length > count) {
    const every = Math.ceil(powers.length / count);
    return powers.filter((_, i) => i % every === 0);
  }
  if (powers.length > 2) return powers;
  const finer = Array.from({ length: high - low + 1 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** (low + i))).flat();
  const between = finer.filter(inside);
  return between.length >= 2 ? between : niceTicks(range, count).filter((tick) => tick > 0);
}

/** Zero, and powers of ten to both sides beyond the linear part, thinned. */
function symlogTicks(range: Range, linear: number, count: number): number[] {
  const size = Math.max(Math.abs(range.min), Math.abs(range.max));
  const decades = Math.max(1, Math.ceil(Math.log10(size / linear)));
  const sides = range.min < 0 && range.max > 0 ? 2 : 1;
  const every = Math.max(1, Math.ceil(((decades + 1) * sides) / count));
  const powers = Array.from({ length: Math.floor(decades / every) + 1 }, (_, i) => linear * 10 ** (i * every));
  const ticks = [...powers.map((power) => -power).reverse(), 0, ...powers];
  const shown = ticks.filter((tick) => tick >= range.min && tick <= range.max);
  return shown.length >= 2 ? shown : niceTicks(range, count);
}

const digitsMax = 7;

/**
 * As many digits as tell neighbours apart. Where that would be too many to read, the lowest is written roughly and
 * the others as what is added to it.
 */
export function tickTexts(ticks: readonly number[], format = formatNumber): string[] {
  const step = smallestOf(ticks.slice(1).map((tick, i) => Math.abs(tick - (ticks[i] ?? 0))));
  const size = largestOf(ticks.map(Math.abs));
  if (!(step > 0) || !(size > 0)) return ticks.map((tick) => format(tick));
  const unit = unitOf(step);
  const digits = (tick: number) => Math.max(1, Math.floor(Math.log10(Math.abs(tick) / unit) + 1e-9) + 1);
  if (digits(size) <= digitsMax) return ticks.map((tick) => format(tick, tick === 0 ? 1 : digits(tick)));
  const [first = 0] = ticks;
  return ticks.map((tick, i) => (i === 0 ? `≈${format(tick, 3)}` : `+${format(tick - first, 3)}`));
}

/** The last decimal place that a step needs: 0.01 for 0.25, 1 for 5. */
function unitOf(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step) + 1e-9);
  const shares = step / power;
  return Math.abs(shares - Math.round(shares)) < 1e-6 ? power : power / 10;
}
