// A run id may be used again: resumed, or by another process that chose the same name. The run_starts of a worker, by
// their times, cut its events into incarnations, numbered from 1; events from before the first start belong to the
// first. Worked out when reading, so that a start that comes late, or a file that is replayed, changes nothing stored.

import type { WorkerStart } from "#store/reader/sequences.ts";

export class Incarnations {
  private readonly starts = new Map<string, bigint[]>();

  constructor(starts: Iterable<WorkerStart>) {
    for (const { groupKey, worker, tsNs } of starts) {
      const key = toWorkerKey(groupKey, worker);
      const known = this.starts.get(key);
      if (known === undefined) this.starts.set(key, [tsNs]);
      else known.push(tsNs);
    }
    // Two starts at one moment are one: a copy of it.
    for (const [key, times] of this.starts) {
      this.starts.set(
        key,
        [...new Set(times)].sort((a, b) => (a < b ? -1 : 1)),
      );
    }
  }

  /** How often the worker has started; at least 1 for a worker that has events. */
  countOf(groupKey: string, worker: string): number {
    return Math.max(1, this.starts.get(toWorkerKey(groupKey, worker))?.length ?? 0);
  }

  /** The incarnation that an event of this time belongs to. */
  of(groupKey: string, worker: string, tsNs: bigint): number {
    const times = this.starts.get(toWorkerKey(groupKey, worker)) ?? [];
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] as bigint) <= tsNs) low = middle + 1;
      else high = middle;
    }
    return Math.max(1, low);
  }
}

/** A worker is one of its group: the same name in two groups is two workers. */
export function toWorkerKey(groupKey: string, worker: string): string {
  return `${groupKey}\n${worker}`;
}
