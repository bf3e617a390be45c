// Which runs exist, so that an event can say that it is the first of its run.

import { TextFilter } from "#base/text-filter.ts";

const goneMax = 10_000;

export class KnownRuns {
  private readonly filter = new TextFilter();
  /** Deleted runs: their next event is the first again. */
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

  /** Whether the run was known. It is from now on. */
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
