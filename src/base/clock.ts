// The time since the epoch in nanoseconds or microseconds, as precise as the runtime allows: the start of the process plus
// a monotonic clock, corrected when the wall clock was set or the machine has slept.

let originMs: number = performance.timeOrigin;
/** The two clocks drift apart less than this between two calls, and nobody sets a clock by less. */
const apartMsMax = 500;

declare const clock: unique symbol;

/** Nanoseconds since the epoch by this machine's clock. A plain bigint fits, but not the time of a sender. */
export type ServerNs = bigint & { readonly [clock]?: "server" };
/** The same by the clock of whoever sent the record, which may be off by hours. */
export type SenderNs = bigint & { readonly [clock]?: "sender" };

export function nowNs(): ServerNs {
  return BigInt(nowUs()) * 1000n;
}

export function nowUs(): number {
  const wallMs = Date.now();
  if (Math.abs(originMs + performance.now() - wallMs) > apartMsMax) originMs = wallMs - performance.now();
  return Math.round((originMs + performance.now()) * 1000);
}
