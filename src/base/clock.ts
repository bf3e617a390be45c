// The wall clock in nanoseconds since the epoch, as fine as the runtime gives it: the time of a clock that only goes forward
// since the process began, set right when the wall clock was set or the machine has slept.

let originMs: number = performance.timeOrigin;
/** More than the two drift apart between two calls, and less than anybody sets a clock by. */
const apartMsMax = 500;

declare const clock: unique symbol;

/** Nanoseconds since the epoch by this machine's clock. A plain bigint fits, but not the time of a sender. */
export type ServerNs = bigint & { readonly [clock]?: "server" };
/** The same by the clock of whoever sent the record, which may be off by hours. */
export type SenderNs = bigint & { readonly [clock]?: "sender" };

export function nowNs(): ServerNs {
  const wallMs = Date.now();
  if (Math.abs(originMs + performance.now() - wallMs) > apartMsMax) originMs = wallMs - performance.now();
  return BigInt(Math.round((originMs + performance.now()) * 1000)) * 1000n;
}
