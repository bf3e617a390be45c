// How long a start waits for a store that is somebody else's. It has one span of time for everything that it asks there;
// what is not answered by then is waited for while the server already accepts. An own engine is waited for.

import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  /** What the work comes to, or that it takes longer: then it goes on, and whoever began it hears of its end. */
  within<T>(work: Promise<T>): Promise<T | "late">;
}

export function createPatience(spanMs: number): Patience {
  let isOver = false;
  const over = sleep(spanMs, "late" as const, { ref: false }).then((late) => {
    isOver = true;
    return late;
  });
  return {
    within(work) {
      if (isOver) return Promise.resolve("late");
      return Promise.race([work, over]);
    },
  };
}

export const endless: Patience = { within: (work) => work };
export const none: Patience = { within: () => Promise.resolve("late") };
