// Values of params and metrics by group of rows, for tables of many runs.

export interface ParamCell {
  readonly groupKey: string;
  readonly name: string;
  /** Strict JSON text. */
  readonly value: string;
  readonly num: number | null;
  readonly tsNs: bigint;
}

/** Which point of a series is asked for; the least and the greatest are among finite values. */
export type PointStat = "first" | "last" | "min" | "max";

/** One point of one series. */
export interface MetricCell {
  readonly groupKey: string;
  readonly phase: string;
  readonly worker: string;
  readonly value: number | null;
  /** The exact text when the number is not it. */
  readonly text: string;
  /** Where it stands in its series; null and 0 for the least and the greatest. */
  readonly step: bigint | null;
  readonly tsNs: bigint;
  /** Whether any point of the series is NaN or ±Infinity. */
  readonly hasNonfinite: boolean;
}

export interface MetricCount {
  readonly groupKey: string;
  readonly key: string;
  readonly phase: string;
  readonly count: number;
  readonly nonfinite: number;
}
