// What inputs wait for before they can be applied, and how long they may hold up others. Many may wait for the same thing, such
// as the removal of a deleted run's rows: only the first of them finds out that it takes long.

import { attempt, toThrown } from "./apply-failure.ts";

/** Doubled each time an input is put off. */
const patienceMs = 200;
const patienceMsMax = 10_000;

export class Waits {
  /** For each promise the one that is handed out, whose rejection need not be handled. */
  private readonly told = new WeakMap<Promise<void>, Promise<void>>();
  private readonly long = new WeakSet<Promise<void>>();

  /** What must be waited for; null when that is nothing. */
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

  /** Whether the wait is over soon, for an input that was put off this often. Rejects if the promise rejects meanwhile. */
  async isSoonOver(waiting: Promise<void>, delays: number): Promise<boolean> {
    if (delays === 0 && this.long.has(waiting)) return false;
    const isOver = await isDoneWithin(waiting, Math.min(patienceMsMax, patienceMs * 2 ** delays));
    if (!isOver) this.long.add(waiting);
    return isOver;
  }
}

function ignore(): void {}

/** Rejects if the promise rejects within the time; a later rejection is for its later waiters. */
function isDoneWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), ms);
    promise.then(() => resolve(true), reject).finally(() => clearTimeout(timer));
  });
}
