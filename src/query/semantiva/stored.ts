// The stored records that the questions about pipelines are answered from: narrow views of the rows of `lifecycle` and
// `nodes`, named as their columns are.
//
// The format gives no order but the file's own, and times that may repeat. "Later" is therefore: the greater written
// time, as text, since that is how the format's own aggregator compares times; then the later arrival.

import { compareText } from "#base/compare-text.ts";

interface Arrived {
  readonly event_id: string;
  /** The order of arrival. */
  readonly jpos: number;
  readonly jrow: number;
  readonly received_ns: bigint;
}

export interface LifecycleRow extends Arrived {
  readonly type: string;
  readonly run_id: string;
  readonly launch_id: string;
  readonly attempt: number | null;
  readonly run_index: number | null;
  /** Strict JSON with sorted keys, '' for none. */
  readonly context: string;
  readonly pipeline_id: string;
  readonly semantic_id: string;
  readonly config_id: string;
  readonly expected: readonly string[];
  readonly outcome: string;
  readonly planned_runs: number | null;
  readonly total_runs: number | null;
  /** '' when absent. */
  readonly timestamp: string;
  readonly ts_ns: bigint;
  readonly seq: number | null;
}

export interface NodeRow extends Arrived {
  readonly run_id: string;
  readonly node_id: string;
  readonly pipeline_id: string;
  readonly status: string;
  /** The header's own time; the driver writes none. */
  readonly timestamp: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly wall_ms: number | null;
  readonly cpu_ms: number | null;
  readonly seq: number | null;
  readonly processor: string;
  readonly upstream: readonly string[];
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
  return a.jpos - b.jpos || a.jrow - b.jrow;
}

/** Each record once: until the store has merged its parts, a record may stand in it twice. */
export function distinct<R extends Arrived>(rows: readonly R[]): R[] {
  const seen = new Set<string>();
  return rows.filter(({ event_id }) => !seen.has(event_id) && seen.add(event_id));
}

/** The smaller and the greater of two times as text; '' is no time. */
export function earlier(a: string, b: string): string {
  if (a === "" || b === "") return a || b;
  return compareText(a, b) <= 0 ? a : b;
}

export function later(a: string, b: string): string {
  return compareText(a, b) >= 0 ? a : b;
}
