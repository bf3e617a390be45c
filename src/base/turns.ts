// Long work takes turns with everybody else's, so that clients do not wait for it. A turn is as long as the others took for
// theirs, so this work gets half of the time under any load. With turns of fixed length, a thousand busy connections
// would leave it less than it needs, and rows would fall ever further behind.

import { setImmediate } from "node:timers/promises";

/** A step more at most. */
const turnMsMin = 4;
const turnMsMax = 25;

export class Turn {
  private untilMs = performance.now() + turnMsMin;

  get isOver(): boolean {
    return performance.now() >= this.untilMs;
  }

  /** Everybody else has theirs, then the next one begins. */
  async pass(): Promise<void> {
    const yieldedMs = performance.now();
    await setImmediate();
    const nowMs = performance.now();
    this.untilMs = nowMs + Math.min(turnMsMax, Math.max(turnMsMin, nowMs - yieldedMs));
  }
}

/** All of it without a pause. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  const turn = new Turn();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (turn.isOver) await turn.pass();
  }
}
