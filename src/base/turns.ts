// Long work is done in turns, so that clients do not wait for it. All long work of the process is in one queue, and each round
// of the event loop does one piece of it, so sockets are read after every turn, however long the queue. A turn lasts as long as
// the sockets took before it, so this work gets half of the time under any load. With turns of fixed length, a thousand busy
// connections would leave it less than it needs, and rows would fall further and further behind.

/** A turn may exceed these by one step. */
const turnMsMin = 4;
const turnMsMax = 25;

const line: (() => void)[] = [];
let isRoundSet = false;
/** When the last turn ended. */
let endedMs = 0;
let turnMs = turnMsMin;

function beginTurn(): void {
  turnMs = Math.min(turnMsMax, Math.max(turnMsMin, performance.now() - endedMs));
  line.shift()?.();
  isRoundSet = line.length > 0;
  // An immediate that sets an immediate runs after the sockets were read.
  if (isRoundSet) setImmediate(beginTurn);
}

/** Resolves when a turn begins. */
export function nextTurn(): Promise<void> {
  endedMs = performance.now();
  if (!isRoundSet) setImmediate(beginTurn);
  isRoundSet = true;
  return new Promise((resolve) => line.push(resolve));
}

export class Turn {
  private untilMs = performance.now() + turnMsMin;

  get isOver(): boolean {
    return performance.now() >= this.untilMs;
  }

  /** Ends this turn and waits for the next. */
  async pass(): Promise<void> {
    await nextTurn();
    this.untilMs = performance.now() + turnMs;
  }
}

/** How much of each round of the event loop may go to work that is done as it arrives, outside the queue. */
export class RoundShare {
  private untilMs = Number.NEGATIVE_INFINITY;
  private isBegun = false;

  get isOver(): boolean {
    const nowMs = performance.now();
    if (this.isBegun) return nowMs >= this.untilMs;
    this.isBegun = true;
    this.untilMs = nowMs + turnMsMin;
    setImmediate(() => {
      this.isBegun = false;
    });
    return false;
  }
}

/** Runs all steps without a pause. */
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
