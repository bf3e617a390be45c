// Which runs there are, as far as an event has to tell that one is the first of its run.

import { BloomChain } from "#base/bloom-chain.ts";

/** A run that is taken for a known one by chance is announced as changed: once in ten thousand. */
const bitsPerRun = 24;
const goneMax = 10_000;

export class KnownRuns {
  private readonly filter = new BloomChain(bitsPerRun);
  /** Deleted runs: the next of their events is the first again. */
  private readonly gone = new Set<string>();
  private isWarm: boolean;

  constructor(isFresh: boolean) {
    this.isWarm = isFresh;
  }

  know(name: string): void {
    this.filter.add(name);
  }

  warm(): void {
    this.isWarm = true;
  }

  /** Whether the run was known; it is from now on. */
  note(name: string): boolean {
    const isKnown = !this.gone.delete(name) && (!this.isWarm || this.filter.has(name));
    this.filter.add(name);
    return isKnown;
  }

  forget(name: string): void {
    if (this.gone.size >= goneMax) this.gone.clear();
    this.gone.add(name);
  }
}
