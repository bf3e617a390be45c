// Axis maths without pixels: ranges, ticks, transforms. Everything here is pure.

export type YScale = "linear" | "log" | "symlog";

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** A range set by hand; null leaves a side to the data. */
export interface YBounds {
  readonly min: number | null;
  readonly max: number | null;
}

export function extentOf(values: Iterable<number | null>): Range | null {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min > max ? null : { min, max };
}

/** Where the greatest (1) or the least (−1) value stands; −1 when there is none. */
export function extremeRow(values: readonly (number | null)[], way: 1 | -1): number {
  let best = -1;
  values.forEach((value, row) => {
    const before = values[best];
    if (value !== null && (before === null || before === undefined || (value - before) * way > 0)) best = row;
  });
  return best;
}

/** How far into a range a value stands: 0 at its least, 1 at its greatest. A range may be wider than a number can say. */
export function shareOfRange({ min, max }: Range, value: number): number {
  const span = max - min;
  return Number.isFinite(span) ? (value - min) / span : (value / 2 - min / 2) / (max / 2 - min / 2);
}

/** A little air above and below, and a range of its own for a constant. */
export function padRange({ min, max }: Range): Range {
  const air = min === max ? (min === 0 ? 1 : Math.abs(min) * 0.1) : (max - min) * 0.05;
  return { min: Math.max(-Number.MAX_VALUE, min - air), max: Math.min(Number.MAX_VALUE, max + air) };
}

/** The range of the middle values, widened by half of itself, never beyond the true extremes. */
export function robustRange(values: readonly (number | null)[]): Range | null {
  const sorted = values
    .filter((value): value is number => value !== null && Number.isFinite(value))
    .sort((a, b) => a - b);
  const extent = extentOf(sorted);
  if (extent === null) return null;
  const low = quantileOfSorted(sorted, 0.05);
  const high = quantileOfSorted(sorted, 0.95);
  const air = (high - low) * 0.5;
  return { min: Math.max(extent.min, low - air), max: Math.min(extent.max, high + air) };
}

/** Linear between neighbours, as most tools do it. */
export function quantileOfSorted(sorted: readonly number[], q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * q;
  const low = Math.floor(place);
  const from = sorted[low] ?? Number.NaN;
  const to = sorted[Math.min(sorted.length - 1, low + 1)] ?? from;
  return from + (to - from) * (place - low);
}

export function medianOf(values: readonly number[]): number {
  return quantileOfSorted(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Round steps of 1, 2, 2.5 or 5 · 10^n: at most `count` intervals. */
export function niceTicks(range: Range, count: number): number[] {
  const span = range.max - range.min;
  if (!(span > 0) || count < 1) return [range.min];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10);
  const ticks: number[] = [];
  for (let i = Math.ceil(range.min / step - 1e-9); i * step <= range.max + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(15)));
  }
  return ticks;
}

const durationStepsNs = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n, n * 1e3, n * 1e6]),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * 1e9),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * 60e9),
  ...[1, 2, 3, 6, 12, 24].map((n) => n * 3600e9),
  ...[2, 5, 10, 20, 50, 100].map((n) => n * 86_400e9),
].sort((a, b) => a - b);

/** Ticks of a time axis at steps a clock has. */
export function timeTicks(fromNs: number, toNs: number, count: number): { stepNs: number; ticks: number[] } {
  const rough = (toNs - fromNs) / Math.max(1, count);
  const found = durationStepsNs.findIndex((step) => step >= rough);
  const stepNs = durationStepsNs[found] ?? 1e9 * 86_400 * 365;
  const ticks = ticksAt(fromNs, toNs, stepNs);
  const finerNs = durationStepsNs[found - 1];
  // One label alone tells no scale.
  if (ticks.length > 1 || finerNs === undefined) return { stepNs, ticks };
  const finer = ticksAt(fromNs, toNs, finerNs);
  return finer.length > count + 1 ? { stepNs, ticks } : { stepNs: finerNs, ticks: finer };
}

function ticksAt(fromNs: number, toNs: number, stepNs: number): number[] {
  const ticks: number[] = [];
  for (let at = Math.ceil(fromNs / stepNs) * stepNs; at <= toNs; at += stepNs) ticks.push(at);
  return ticks;
}

/** Index of the nearest value in an ascending list, −1 when it is empty. */
export function nearestIndex(ascending: ArrayLike<number>, value: number): number {
  const next = lowerBound(ascending, value);
  const [before, after] = [ascending[next - 1], ascending[next]];
  if (before === undefined) return Math.min(0, ascending.length - 1);
  return after === undefined || value - before <= after - value ? next - 1 : next;
}

/** The first index whose value is ≥ `value`. */
export function lowerBound(ascending: ArrayLike<number>, value: number, from = 0, to = ascending.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
