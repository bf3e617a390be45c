// Work that takes tens of milliseconds is done in turns with everybody else's: a client waits for its answer meanwhile.
// A turn is as long as the others took for theirs, so that under any load this work gets half of the time: with a fixed
// turn a thousand busy connections left it less than it needed, and rows came ever later.

import { setImmediate } from "node:timers/promises";

/** A step more at most. */
const turnMsMin = 4;
const turnMsMax = 25;

/** All of it without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  for (let until = performance.now() + turnMsMin; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const yieldedMs = performance.now();
    if (yieldedMs < until) continue;
    await setImmediate();
    const nowMs = performance.now();
    until = nowMs + Math.min(turnMsMax, Math.max(turnMsMin, nowMs - yieldedMs));
  }
}
