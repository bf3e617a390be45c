// Statistics that a few outliers do not move.

/** For an even number of values the mean of the middle two; NaN for none. */
export function medianOf(values: Iterable<number>): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The median distance from the median, scaled to the standard deviation of a normal distribution. */
export function spreadOf(values: readonly number[] | Float64Array, median: number = medianOf(values)): number {
  const distances = new Float64Array(values.length);
  for (let at = 0; at < distances.length; at++) distances[at] = Math.abs((values[at] as number) - median);
  return 1.4826 * medianOf(distances);
}

/** Means over the last `span` values, each weighing less than the one after it. */
export class Smoothed {
  private readonly alpha: number;
  private weight = 0;
  private sum = 0;

  constructor(span: number) {
    this.alpha = 2 / (span + 1);
  }

  add(value: number): number {
    this.sum += this.alpha * (value - this.sum);
    this.weight += this.alpha * (1 - this.weight);
    return this.sum / this.weight;
  }
}
