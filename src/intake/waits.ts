// What inputs wait for before they can be applied, and for how long while others wait for them. Many may wait for the same,
// such as for the rows of a deleted run to be gone: only the first of them finds out that it takes long.

import { attempt, toThrown } from "./apply-failure.ts";

/** Twice as long whenever an input was put off. */
const patienceMs = 200;
const patienceMsMax = 10_000;

export class Waits {
  /** Each promise with the one that is handed out, which nobody need handle. */
  private readonly told = new WeakMap<Promise<void>, Promise<void>>();
  private readonly long = new WeakSet<Promise<void>>();

  /** What it has to wait for; null when that is nothing. */
  find(prepare: () => Promise<void> | null): Promise<void> | null {
    const waiting = attempt(prepare);
    if (waiting === null) return null;
    let told = this.told.get(waiting);
    if (told === undefined) {
      told = waiting.catch(toThrown);
      told.catch(ignore);
      this.told.set(waiting, told);
    }
    return told;
  }

  /** Whether it is over soon, for an input that was put off so many times. Rejects as the promise does meanwhile. */
  async isSoonOver(waiting: Promise<void>, delays: number): Promise<boolean> {
    if (delays === 0 && this.long.has(waiting)) return false;
    const isOver = await isDoneWithin(waiting, Math.min(patienceMsMax, patienceMs * 2 ** delays));
    if (!isOver) this.long.add(waiting);
    return isOver;
  }
}

function ignore(): void {}

/** Rejects as the promise does within the time; what it does later is for whoever waits for it then. */
function isDoneWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), ms);
    promise.then(() => resolve(true), reject).finally(() => clearTimeout(timer));
  });
}
