// Work that takes tens of milliseconds is done in turns with everybody else's: a client waits for its answer meanwhile.

import { setImmediate } from "node:timers/promises";

/** How long one turn takes, a step more at most. */
const turnMs = 4;

export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + turnMs; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < until) continue;
    await setImmediate();
    until = performance.now() + turnMs;
  }
}
