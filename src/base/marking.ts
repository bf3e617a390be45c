// Whether the runtime is looking through the whole heap, which it mostly does beside the program. It never collects the young
// meanwhile: whoever asks for that makes it finish the whole heap at once, and everybody waits.

import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";

const { NODE_PERFORMANCE_GC_INCREMENTAL: begun, NODE_PERFORMANCE_GC_MAJOR: ended } = constants;

/** The runtime's types say nothing of the detail. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } };

export class Marking {
  private isOn = false;
  private readonly observer: PerformanceObserver;

  constructor() {
    this.observer = new PerformanceObserver((list) => this.note(list.getEntries()));
    this.observer.observe({ entryTypes: ["gc"] });
  }

  /** As it was when this round of the event loop came to its turns, or in the round before for who asks earlier in it. */
  get isUnderWay(): boolean {
    this.note(this.observer.takeRecords());
    return this.isOn;
  }

  private note(entries: readonly PerformanceEntry[]): void {
    for (const entry of entries) {
      const { kind } = (entry as Collection).detail;
      if (kind === begun) this.isOn = true;
      else if (kind === ended) this.isOn = false;
    }
  }

  close(): void {
    this.observer.disconnect();
  }
}
