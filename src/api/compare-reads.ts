// What a comparison reads: each once for all runs, however many there are.

import type { Float } from "./contract/scalar.ts";
import type { RunGroup } from "./reads.ts";

export interface ComparedMetric {
  readonly run: string;
  readonly key: string;
  readonly phase: string;
  readonly last: Float | null;
  readonly min: number | null;
  readonly max: number | null;
  /** Whether any point is NaN or ±Infinity. */
  readonly has_nonfinite: number;
}

export interface ComparedSpan {
  readonly run: string;
  readonly name: string;
  readonly count: number;
  readonly wall_ns: string;
  readonly gpu_ns: string | null;
  readonly p50_ns: string;
}

export interface StartText {
  readonly run: string;
  readonly type: "run_start" | "cirron.session";
  readonly payload: string;
}

export interface CompareReads {
  metrics(groups: readonly RunGroup[]): Promise<ComparedMetric[]>;
  spans(groups: readonly RunGroup[]): Promise<ComparedSpan[]>;
  /** Names of tensors that at least two runs have. */
  tensors(groups: readonly RunGroup[]): Promise<string[]>;
  startTexts(groups: readonly RunGroup[]): Promise<StartText[]>;
}
