// The smallest and largest of many numbers. A spread into `Math.min` puts every value on the stack and throws from a few hundred
// thousand on, so lists whose length depends on data use these instead.

/** +Infinity when there are none, NaN when one is. */
export function smallestOf(values: Iterable<number>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const value of values) least = Math.min(least, value);
  return least;
}

/** -Infinity when there are none, NaN when one is. */
export function largestOf(values: Iterable<number>): number {
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) most = Math.max(most, value);
  return most;
}
