// Copies summaries of metrics into the table that is ordered by key, from time to time, in the embedded engine.

import { copyMetricsByKey } from "#store/metrics-by-key.ts";
import type { Store } from "#store/store.ts";

/** Rarely enough to cost nothing, and often enough that a question finds little that is not copied. */
const copyMs = 60_000;

export interface ByKey {
  /** Everything up to this journal position is stored. */
  stored(position: number): void;
  copy(): Promise<void>;
  /** Runs `work` while nothing is copied: a copy would bring back rows that are being deleted. */
  apart<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

export function keepByKey(store: Store, onTrouble: (message: string, cause: unknown) => void): ByKey {
  let turn: Promise<unknown> = Promise.resolve();
  let storedTo = 0;
  /** The first look always copies, because the last process may have left something. */
  let copiedTo = -1;
  let { restarts } = store;
  let isClosed = false;
  const apart = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  const copy = (): Promise<void> =>
    apart(async () => {
      if (isClosed || store.kind === "server") return;
      const position = storedTo;
      ({ restarts } = store);
      await copyMetricsByKey(store);
      copiedTo = position;
    });
  const copyNew = (): void => {
    copy().catch((cause) => (isClosed ? undefined : onTrouble("Summaries of metrics could not be copied.", cause)));
  };
  const timer = setInterval(() => {
    if (storedTo > copiedTo) copyNew();
  }, copyMs).unref();
  return {
    copy,
    apart,
    stored(position) {
      storedTo = position;
      // After a restart of the engine it is not known what was copied.
      if (store.restarts === restarts) return;
      ({ restarts } = store);
      copyNew();
    },
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
