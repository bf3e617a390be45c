// Wall-clock nanoseconds without BigInt on the hot path.
// A time is a double counting nanoseconds from the process's start, exact for 104 days; only when it
// is written does it become the 19 decimal digits of nanoseconds since the epoch.

const originMs = performance.timeOrigin;
const originSeconds = Math.floor(originMs / 1000);
const originNanos = Math.round((originMs - originSeconds * 1000) * 1e6);

// The monotonic clock stands still while a machine sleeps and does not follow a corrected wall clock.
let skewNs = 0;

export function nowNs(): number {
  return performance.now() * 1e6 + skewNs;
}

/** Follows the wall clock after a sleep or a correction of more than a second. Called at every flush. */
export function followWallClock(): void {
  const driftNs = (Date.now() - originMs) * 1e6 - nowNs();
  if (Math.abs(driftNs) > 1e9) skewNs += driftNs;
}

/** Whole seconds since the epoch. */
export function toSeconds(timeNs: number): number {
  return originSeconds + Math.floor((originNanos + Math.round(timeNs)) / 1e9);
}

/** The nanoseconds beyond the whole second. */
export function toNanos(timeNs: number): number {
  const total = originNanos + Math.round(timeNs);
  return total - Math.floor(total / 1e9) * 1e9;
}

/** Decimal nanoseconds since the epoch. */
export function formatNs(timeNs: number): string {
  return `${toSeconds(timeNs)}${String(toNanos(timeNs)).padStart(9, "0")}`;
}
