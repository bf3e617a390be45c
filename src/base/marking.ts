// Whether the runtime is looking through the whole heap, which it mostly does beside the program. It never collects the young
// meanwhile: whoever asks for that makes it finish the whole heap at once, and everybody waits.

import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";

const { NODE_PERFORMANCE_GC_INCREMENTAL: begun, NODE_PERFORMANCE_GC_MAJOR: ended } = constants;

/** The runtime's types say nothing of the detail. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } };

export class Marking {
  /** As of the round of the event loop before this one. */
  isUnderWay = false;
  private readonly observer: PerformanceObserver;

  constructor() {
    this.observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) this.note((entry as Collection).detail.kind);
    });
    this.observer.observe({ entryTypes: ["gc"] });
  }

  private note(kind: number): void {
    if (kind === begun) this.isUnderWay = true;
    else if (kind === ended) this.isUnderWay = false;
  }

  close(): void {
    this.observer.disconnect();
  }
}
