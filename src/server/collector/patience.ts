// How long a start waits for a store. One limit covers all questions to a remote one; what is not answered by then is waited
// for while the server already accepts. An embedded engine is waited for, unless its disk is full.

import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
  /** The result of the work, or that it takes longer: then it goes on, and its caller learns of its end. */
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

/** Lasts until it is given up. */
export function createEndless(): Patience & { giveUp(): void } {
  const over = Promise.withResolvers<"late">();
  return { within: (work) => Promise.race([work, over.promise]), giveUp: () => over.resolve("late") };
}

export const none: Patience = { within: () => Promise.resolve("late") };
