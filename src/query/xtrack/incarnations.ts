// A run id may be used again: resumed, or by another process that chose the same name. The run_starts of a worker, by
// their times, cut its events into incarnations, numbered from 1; events from before the first start belong to the
// first. Worked out when reading, so that a start that comes late, or a file that is replayed, changes nothing stored.

import { firstPlace } from "#base/first-place.ts";
import type { GroupName } from "#model/names.ts";
import type { WorkerStart } from "#store/reader/sequences.ts";

const noTimes = new BigInt64Array(0);

export class Incarnations {
  private readonly starts = new Map<string, BigInt64Array>();

  constructor(starts: Iterable<WorkerStart>) {
    for (const [key, own] of Map.groupBy(starts, ({ groupKey, worker }) => toWorkerKey(groupKey, worker))) {
      // Two starts at one moment are one: a copy of it.
      const times = new Set(own.map(({ tsNs }) => tsNs));
      this.starts.set(key, BigInt64Array.from(times).sort());
    }
  }

  /** How often the worker has started; at least 1 for a worker that has events. */
  countOf(groupKey: GroupName, worker: string): number {
    return Math.max(1, this.starts.get(toWorkerKey(groupKey, worker))?.length ?? 0);
  }

  /** The incarnation that an event of this time belongs to. */
  of(groupKey: GroupName, worker: string, tsNs: bigint): number {
    const times = this.starts.get(toWorkerKey(groupKey, worker)) ?? noTimes;
    return Math.max(
      1,
      firstPlace(0, times.length, (start) => (times[start] as bigint) <= tsNs),
    );
  }
}

/** A worker is one of its group: the same name in two groups is two workers. */
export function toWorkerKey(groupKey: GroupName, worker: string): string {
  return `${groupKey}\n${worker}`;
}
