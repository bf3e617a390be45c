// Smoothing for the eye only: the raw line always stays visible beneath it.

/**
 * Exponential moving average without the pull of its start (divided by the weight seen so far).
 * `weight` in 0…1 is how much of the past stays. Gaps stay gaps and do not move the average.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  let sum = 0;
  let seen = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    sum = sum * weight + value * (1 - weight);
    seen = seen * weight + (1 - weight);
    return sum / seen;
  });
}
