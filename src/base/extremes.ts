// The least and the most of many numbers. Spreading them into `Math.min` puts every one of them on the stack and throws from some
// hundred thousand on, so what data may make long is folded here.

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
