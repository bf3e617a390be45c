// Values of params and metrics by run, for tables of many runs.

export interface ParamCell {
  readonly groupKey: string;
  readonly name: string;
  /** Strict JSON text. */
  readonly value: string;
  readonly num: number | null;
  readonly tsNs: bigint;
}

/** One point of a series as it is summed up. */
export interface SummaryPoint {
  readonly value: number | null;
  /** The exact text when the number is not it. */
  readonly text: string;
  readonly step: bigint | null;
  readonly tsNs: bigint;
}

export interface MetricCell {
  readonly groupKey: string;
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly first: SummaryPoint;
  readonly last: SummaryPoint;
  readonly min: number | null;
  readonly max: number | null;
  /** Whether any point is NaN or ±Infinity. */
  readonly hasNonfinite: boolean;
}

export interface MetricCount {
  readonly groupKey: string;
  readonly key: string;
  readonly phase: string;
  readonly count: number;
  readonly nonfinite: number;
}
