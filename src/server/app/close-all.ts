// The end of a server: its parts are closed one after the other, within a bounded time.

import { setTimeout as sleep } from "node:timers/promises";

export type Closer = (leftMs: number) => Promise<void>;

/** Less than the ten seconds that supervisors usually allow. */
const closeMs = 9000;
/** What each part has at least, however long the others took. */
export const closeMsMin = 100;

/**
 * A part that fails keeps none of the others open: the last of them is the collector with its journal and store. A store or
 * bus that hangs is waited for only for what is left of the time. Rejects at the end with the first failure.
 */
export async function closeAll(closers: readonly Closer[]): Promise<void> {
  const failures: unknown[] = [];
  const endMs = performance.now() + closeMs;
  for (const close of closers) {
    const leftMs = Math.max(closeMsMin, endMs - performance.now());
    const closed = close(leftMs).catch((cause: unknown) => failures.push(cause));
    await Promise.race([closed, sleep(leftMs, undefined, { ref: false })]);
  }
  if (failures.length > 0) throw failures[0];
}
