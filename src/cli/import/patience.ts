// When to retry: always if the server has no room and, when following files, also while it is away, because it may only be
// restarting.

import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "#cli/client.ts";
import { Exit, exitCodes } from "#cli/exit.ts";

export interface Patience {
  /** Ends the waiting. */
  readonly stop: AbortSignal;
  readonly onAway: (reason: string) => void;
}

const awayMs = 1000;

export async function sendPatiently<T>(task: () => Promise<T>, patience: Patience | null): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      const isBusy = error instanceof ApiError && error.status === 429;
      if (!isBusy && (patience === null || patience.stop.aborted || !isAway(error))) throw error;
      if (!isBusy) patience?.onAway((error as Error).message);
      const waitMs = isBusy ? Math.max(1, error.retryAfterS) * 1000 : awayMs;
      await sleep(waitMs, undefined, patience === null ? {} : { signal: patience.stop }).catch(() => undefined);
    }
  }
}

function isAway(error: unknown): boolean {
  return (
    (error instanceof Exit && error.code === exitCodes.outage) || (error instanceof ApiError && error.status >= 500)
  );
}
