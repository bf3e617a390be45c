// The order of stored records, and each of them once.
//
// The format gives no order but the file's own, and times that may repeat. "Later" is therefore: the greater written
// time, as text, since that is how the format's own aggregator compares times; then the later arrival.

import { compare, compareText } from "#base/compare-text.ts";
import type { LifecycleRow, NodeRow } from "#store/reader/pipelines.ts";

interface Arrived {
  readonly event_id: string;
  readonly received_ns: bigint;
  readonly collector: string;
  readonly jpos: number;
  readonly jrow: number;
}

/** The time a SER counts by. */
export function timeOfNode(row: NodeRow): string {
  return row.timestamp || row.started_at;
}

export function compareNodes(a: NodeRow, b: NodeRow): number {
  return compareText(timeOfNode(a), timeOfNode(b)) || compareText(a.finished_at, b.finished_at) || compareArrival(a, b);
}

export function compareLifecycle(a: LifecycleRow, b: LifecycleRow): number {
  return compareText(a.timestamp, b.timestamp) || compareArrival(a, b);
}

function compareArrival(a: Arrived, b: Arrived): number {
  const byTime = compare(a.received_ns, b.received_ns);
  return byTime || compareText(a.collector, b.collector) || a.jpos - b.jpos || a.jrow - b.jrow;
}

/** Each record once: until the store has merged its parts, a record may stand in it twice. */
export function distinct<R extends Arrived>(rows: readonly R[]): R[] {
  const seen = new Set<string>();
  return rows.filter(({ event_id }) => !seen.has(event_id) && seen.add(event_id));
}

/** The smaller and the greater of two times as text; '' is not a time. */
export function earlier(a: string, b: string): string {
  if (a === "" || b === "") return a || b;
  return compareText(a, b) <= 0 ? a : b;
}

export function later(a: string, b: string): string {
  return compareText(a, b) >= 0 ? a : b;
}
