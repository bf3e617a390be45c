// What a series is asked for.

import type { Axis } from "#api/contract/series.ts";

export interface SeriesGroup {
  readonly groupKey: string;
  /** As the caller calls the run. */
  readonly run: string;
  /** The rank of a group of Cirron's, which is the worker of its marks; null for the others. */
  readonly worker: string | null;
}

export interface SeriesRequest {
  /** The groups of every run that is asked for. */
  readonly groups: readonly SeriesGroup[];
  readonly keys: readonly string[];
  readonly axis: Axis;
  readonly buckets: number;
  readonly byWorker: boolean;
  /** The points of all workers at one position are one bucket. */
  readonly byPosition: boolean;
  readonly worker: string | null;
  readonly phase: string | null;
  /** In the axis' unit, both ends included. */
  readonly from: bigint | null;
  readonly to: bigint | null;
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** All points of a run and key, whoever sent them. */
export const wholeSeries = {
  byWorker: false,
  byPosition: false,
  worker: null,
  phase: null,
  from: null,
  to: null,
  fromNs: null,
  toNs: null,
} as const;
