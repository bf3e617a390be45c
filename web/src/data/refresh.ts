// Asks for cached answers again when what they show has changed. A request under way is never cancelled for a newer one:
// if changes come faster than answers, no answer would ever arrive.

import type { QueryClient, QueryFilters } from "@tanstack/react-query";
import { largestOf } from "#base/extremes.ts";

const gatherMsMax = 60_000;

export interface Refresher {
  /**
   * Asks again for what the filter finds, once changes have been gathered for `gatherMs`, or longer where that is a list of
   * many pages. One turn at a time per key.
   */
  ask(key: string, filters: QueryFilters, gatherMs: number): void;
  close(): void;
}

export function createRefresher(client: QueryClient): Refresher {
  const turns = new Map<string, { again: boolean }>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let closed = false;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, ms);
      timers.add(timer);
    });

  async function take(key: string, filters: QueryFilters, gatherMs: number): Promise<void> {
    const turn = { again: true };
    turns.set(key, turn);
    while (turn.again && !closed) {
      await pause(Math.min(gatherMsMax, gatherMs * Math.ceil(pagesOf(client, filters) / 3)));
      // An answer that is already under way may be from before the change, so it is asked for once more after it.
      turn.again = client.isFetching(filters) > 0;
      await client.invalidateQueries(filters, { cancelRefetch: false });
    }
    turns.delete(key);
  }

  return {
    ask(key, filters, gatherMs) {
      const turn = turns.get(key);
      if (turn === undefined) void take(key, filters, gatherMs);
      else turn.again = true;
    },
    close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** Every page that was scrolled to is asked for again. */
function pagesOf(client: QueryClient, filters: QueryFilters): number {
  const found = client.getQueryCache().findAll({ ...filters, type: "active" });
  return largestOf([
    1,
    ...found.map(({ state }) => (state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 1),
  ]);
}
