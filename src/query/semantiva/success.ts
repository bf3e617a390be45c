// Did it work? A different question from completeness: a failed run is complete when its end has arrived, and a launch
// that ran two of three planned runs is too. The answer is in what the ends say of themselves and in the nodes' errors.

import { compareText } from "#base/compare-text.ts";
import type { OutcomeFacts } from "#store/reader/members.ts";
import type { RunAggregate } from "./aggregate.ts";

export type Outcome = "succeeded" | "failed" | "interrupted" | "unfinished";

export interface Success {
  readonly outcome: Outcome;
  /** The end's own word (`summary.status`); '' when it says none. */
  readonly status_raw: string;
  /** Nodes whose last execution failed, sorted. */
  readonly failed_nodes: string[];
}

export function toRunOutcome({ has_end, outcome, failed_nodes }: OutcomeFacts): Outcome {
  if (!has_end) return failed_nodes > 0 ? "failed" : "unfinished";
  if (outcome === "interrupted" || outcome === "cancelled") return "interrupted";
  if (outcome === "error" || outcome === "failed") return "failed";
  return failed_nodes > 0 ? "failed" : "succeeded";
}

export function judgeRunSuccess(run: RunAggregate): Success {
  const failed_nodes = [...run.nodes.values()]
    .filter((node) => node.last_status === "error")
    .map((node) => node.node_id);
  const status_raw = run.end?.outcome ?? "";
  const facts = { has_end: run.saw_end, outcome: status_raw, failed_nodes: failed_nodes.length };
  return { outcome: toRunOutcome(facts), status_raw, failed_nodes: failed_nodes.sort(compareText) };
}

export interface LaunchSuccess {
  readonly outcome: Outcome;
  readonly status_raw: string;
  readonly runs: Readonly<Record<Outcome, number>>;
  /** Planned runs that never started; null when the plan is not known. */
  readonly missing_runs: number | null;
}

/** The launch's own end leaves `status` out when all went well. */
export function judgeLaunchSuccess(facts: {
  readonly has_end: boolean;
  readonly outcome: string;
  readonly planned: number | null;
  /** Distinct indexes that were started, or runs where none has an index. */
  readonly started: number;
  readonly runs: Readonly<Record<Outcome, number>>;
}): LaunchSuccess {
  const { has_end, outcome, planned, started, runs } = facts;
  const missing_runs = planned === null ? null : Math.max(0, planned - started);
  return {
    outcome: toLaunchOutcome(has_end, outcome, runs, missing_runs ?? 0),
    status_raw: outcome,
    runs,
    missing_runs,
  };
}

function toLaunchOutcome(
  hasEnd: boolean,
  word: string,
  runs: Readonly<Record<Outcome, number>>,
  missingRuns: number,
): Outcome {
  if (word === "interrupted") return "interrupted";
  if (word === "failed" || word === "error" || runs.failed > 0) return "failed";
  if (!hasEnd) return "unfinished";
  if (runs.interrupted > 0) return "interrupted";
  return runs.unfinished > 0 || missingRuns > 0 ? "unfinished" : "succeeded";
}
