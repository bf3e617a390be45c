// Did it work? A different question from completeness: a failed run is complete when its end has arrived, and a launch
// that ran two of three planned runs is too. The answer is in what the ends say of themselves and in the nodes' errors.

import type { LaunchSummary } from "#api/contract/launch.ts";
import type { PipelineOutcome, RunSuccess } from "#api/contract/pipeline.ts";
import { compareText } from "#base/compare-text.ts";
import type { OutcomeFacts } from "#store/reader/members.ts";
import type { RunAggregate } from "./aggregate.ts";

export function toRunOutcome({ has_end, outcome, failed_nodes }: OutcomeFacts): PipelineOutcome {
  if (!has_end) return failed_nodes > 0 ? "failed" : "unfinished";
  if (outcome === "interrupted" || outcome === "cancelled") return "interrupted";
  if (outcome === "error" || outcome === "failed") return "failed";
  return failed_nodes > 0 ? "failed" : "succeeded";
}

export function judgeRunSuccess(run: RunAggregate): RunSuccess {
  const failed_nodes = [...run.nodes.values()]
    .filter((node) => node.last_status === "error")
    .map((node) => node.node_id);
  const status_raw = run.end?.outcome ?? "";
  const facts = { has_end: run.saw_end, outcome: status_raw, failed_nodes: failed_nodes.length };
  return { outcome: toRunOutcome(facts), status_raw, failed_nodes: failed_nodes.sort(compareText) };
}

export interface LaunchSuccess extends Readonly<LaunchSummary["success"]> {
  readonly status_raw: string;
}

/** The launch's own end leaves `status` out when all went well. */
export function judgeLaunchSuccess(facts: {
  readonly has_end: boolean;
  readonly outcome: string;
  readonly planned: number | null;
  /** Distinct indexes that were started, or runs where none has an index. */
  readonly started: number;
  readonly runs: Readonly<Record<PipelineOutcome, number>>;
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
  runs: Readonly<Record<PipelineOutcome, number>>,
  missingRuns: number,
): PipelineOutcome {
  if (word === "interrupted") return "interrupted";
  if (word === "failed" || word === "error" || runs.failed > 0) return "failed";
  if (!hasEnd) return "unfinished";
  if (runs.interrupted > 0) return "interrupted";
  return runs.unfinished > 0 || missingRuns > 0 ? "unfinished" : "succeeded";
}
