// The wall clock in nanoseconds since the epoch, as fine as the runtime gives it.

export function nowNs(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}
