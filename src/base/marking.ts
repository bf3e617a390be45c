// Whether a collection of the whole heap is under way, most of which runs beside the program. Asking for a collection of young
// objects meanwhile makes the runtime finish the whole heap at once, and everything waits.

import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";

const { NODE_PERFORMANCE_GC_INCREMENTAL: begun, NODE_PERFORMANCE_GC_MAJOR: ended } = constants;

/** The type definitions lack the detail. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } };

export class Marking {
  private isOn = false;
  private readonly observer: PerformanceObserver;

  constructor() {
    this.observer = new PerformanceObserver((list) => this.note(list.getEntries()));
    this.observer.observe({ entryTypes: ["gc"] });
  }

  /** The state when this round of the event loop reached its immediates; before that, the state of the previous round. */
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
