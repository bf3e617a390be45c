// A finding: one sentence, its evidence, how sure it is, and what to try next.

export const findingCodes = [
  "nonfinite",
  "diverging",
  "rate_too_high",
  "input_bound",
  "compute_bound",
  "gpu_idle",
  "straggler",
  "checkpointing",
  "gaps",
] as const;
export type FindingCode = (typeof findingCodes)[number];

export const severities = ["bad", "warn", "info"] as const;
export type Severity = (typeof severities)[number];

/** There is no `low`: weak evidence gives no finding. */
export const confidences = ["high", "medium"] as const;
export type Confidence = (typeof confidences)[number];

/** The view that shows it. */
export const findingViews = ["charts", "timeline", "tensors", "integrity"] as const;
export type FindingView = (typeof findingViews)[number];

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  readonly confidence: Confidence;
  /** A sentence with the numbers that matter. */
  readonly text: string;
  /** The numbers behind it, as sentences. */
  readonly evidence: readonly string[];
  /** The next thing to try. */
  readonly next: string;
  /** Where it begins; null when it is about the whole run. */
  readonly at: RunMoment | null;
  /** The metric that it is about; '' for none. */
  readonly metric: string;
  readonly view: FindingView;
}

export interface RunMoment {
  readonly step: bigint | null;
  readonly tsNs: bigint;
}

/** Members of a finding about the time of the whole run. */
export const ofWholeRun = { at: null, metric: "", view: "timeline" } as const;

const order = { bad: 0, warn: 1, info: 2 } as const;

/** The worst first. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => order[a.severity] - order[b.severity]);
}
