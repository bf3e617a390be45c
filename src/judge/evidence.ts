// The evidence on a run: columns and sums of stored rows, read once. All of it is bounded, however long the run is.

import type { RunMoment } from "./finding.ts";

export interface RunEvidence {
  /** JSON texts by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly nonfinite: readonly NonfiniteMetric[];
  readonly losses: readonly EvidenceSeries[];
  readonly learningRates: readonly EvidenceSeries[];
  /** The tensor in which a value that is not finite was seen first. */
  readonly firstBadTensor: (RunMoment & { readonly tensor: string }) | null;
  readonly steps: StepTimes | null;
  readonly spans: readonly SpanTime[];
  readonly timings: Timings | null;
  readonly windows: readonly RankWindow[];
  readonly gpuUse: { readonly samples: number; readonly meanPercent: number } | null;
  readonly missing: readonly MissingRecords[];
  readonly faults: number;
}

/** A metric some of whose points are NaN or ±Infinity. */
export interface NonfiniteMetric {
  readonly key: string;
  readonly phase: string;
  readonly count: number;
  readonly nonfinite: number;
  readonly first: RunMoment;
  /** The last finite point; null when there is none. */
  readonly lastFiniteNs: bigint | null;
}

/** At most a few thousand points or means of a metric, in order. */
export interface EvidenceSeries {
  readonly key: string;
  readonly phase: string;
  readonly values: Float64Array;
  places(at: number): RunMoment;
}

/** For the rank with the most steps, by the median of its steps. */
export interface StepTimes {
  readonly count: number;
  readonly stepNs: number;
  /** From the start of one to the start of the next. */
  readonly cycleNs: number;
  readonly totalNs: number;
}

export interface SpanTime {
  readonly name: string;
  readonly count: number;
  readonly wallNs: number;
  readonly medianNs: number;
  /** Null where none was measured. */
  readonly gpuNs: number | null;
}

/** Means of times that the client measures itself, in the client's unit. */
export interface Timings {
  readonly stepKey: string;
  readonly dataKey: string;
  readonly points: number;
  readonly dataShare: number;
}

/** What one rank did in one of the windows that the run's time is cut into. */
export interface RankWindow {
  readonly worker: string;
  readonly window: number;
  readonly steps: number;
  /** For one step, without the time spent waiting for other ranks, if known. */
  readonly meanNs: number;
}

export interface MissingRecords {
  readonly worker: string;
  readonly missing: number;
  readonly firstGap: string;
}
