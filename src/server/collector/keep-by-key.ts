// Copies summaries of metrics to where they lie by key, once in a while, in the embedded engine.

import { copyMetricsByKey } from "#store/metrics-by-key.ts";
import type { Store } from "#store/store.ts";

/** Seldom enough to cost nothing, and often enough that a question never finds much that is not copied. */
const copyMs = 60_000;

export interface ByKey {
  /** Plans have reached the store up to here. */
  stored(position: number): void;
  /** Copies what is new. */
  copy(): Promise<void>;
  /** Does something while nothing is copied: rows that are being deleted would come back. */
  apart<T>(work: () => Promise<T>): Promise<T>;
  /** Copies nothing more. */
  close(): void;
}

export function keepByKey(store: Store, onTrouble: (message: string, cause: unknown) => void): ByKey {
  let turn: Promise<unknown> = Promise.resolve();
  let storedTo = 0;
  /** What the last process did not copy is copied in any case. */
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
      // What the engine before it had copied is not known any more.
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
