// How long to wait before the next try: doubling, with a random part on top, so that a thousand workers do
// not come back at once. A time that the server names is respected, up to a minute.

const waitMsMax = 60_000;

/** `attempt` counts the failures so far, from 0: 1, 2, 4 … times `firstMs`, plus up to `firstMs`. */
export function toBackOffMs(attempt: number, firstMs = 1000, random: () => number = Math.random): number {
  return Math.min(waitMsMax, firstMs * 2 ** Math.min(attempt, 16) + firstMs * random());
}

/** Seconds, fractions of them, or an HTTP date; undefined when it is neither. */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(waitMsMax, Math.max(0, waitMs));
}
