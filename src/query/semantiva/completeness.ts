// Complete, partial or invalid: the verdicts of the format's own aggregator, from a few facts about a run or a launch.
// The facts come either from records in memory (aggregate.ts) or from the store's own aggregation over any number of
// runs. Complete is not successful: see success.ts.

import type { CompletenessStatus, LaunchCompleteness, RunCompleteness } from "#api/contract/pipeline.ts";
import { compareText } from "#base/compare-text.ts";
import type { CompletenessFacts } from "#store/reader/pipelines.ts";
import { earlier, later } from "./stored.ts";

export interface LaunchFacts {
  readonly launch_id: string;
  readonly attempt: number;
  readonly has_start: boolean;
  readonly has_end: boolean;
  readonly planned_run_count: number | null;
  /** Attached runs by their verdict. A run is attached by its pipeline_start, so none of them can lack it. */
  readonly runs_by_status: Readonly<Record<CompletenessStatus, number>>;
}

const terminalStatuses: ReadonlySet<string> = new Set(["succeeded", "error", "skipped", "cancelled"]);

export function isTerminal(status: string): boolean {
  return terminalStatuses.has(status);
}

export function judgeRun(facts: CompletenessFacts): RunCompleteness {
  const { has_start, has_end, expected, observed, matched } = facts;
  const hasSpec = expected > 0;
  return {
    run_id: facts.run_id,
    status: completenessOf(has_start, has_end),
    problems: problemsOf(facts),
    missing_nodes: facts.missing_nodes.toSorted(compareText),
    orphan_nodes: hasSpec ? facts.orphan_nodes.toSorted(compareText) : [],
    nonterminal_nodes: facts.nonterminal_nodes.toSorted(compareText),
    summary: {
      nodes_total_expected: hasSpec ? expected : null,
      nodes_observed: observed,
      coverage_pct: hasSpec ? roundHalfEven2((matched / expected) * 100) : null,
      has_start,
      has_end,
    },
  };
}

/** The answer for an id of which there is no record. */
export function judgeUnknownRun(runId: string): RunCompleteness {
  const nothing = {
    nodes_total_expected: null,
    nodes_observed: 0,
    coverage_pct: null,
    has_start: false,
    has_end: false,
  };
  return {
    run_id: runId,
    status: "invalid",
    problems: ["unknown_run"],
    missing_nodes: [],
    orphan_nodes: [],
    nonterminal_nodes: [],
    summary: nothing,
  };
}

export function judgeLaunch(facts: LaunchFacts): LaunchCompleteness {
  const { has_start, has_end, runs_by_status } = facts;
  const runs_total = runs_by_status.complete + runs_by_status.partial + runs_by_status.invalid;
  const problems: string[] = [];
  if (!has_start) problems.push("missing_run_space_start");
  if (!has_end) problems.push("missing_run_space_end");
  let status: CompletenessStatus = "partial";
  if (!has_start && runs_total > 0) status = "invalid";
  else if (has_start && has_end && runs_by_status.complete === runs_total) status = "complete";
  return {
    run_space_launch_id: facts.launch_id,
    run_space_attempt: facts.attempt,
    status,
    problems,
    summary: { runs_total, runs_by_status: { ...runs_by_status }, planned_run_count: facts.planned_run_count },
  };
}

function completenessOf(hasStart: boolean, hasEnd: boolean): CompletenessStatus {
  if (hasStart && hasEnd) return "complete";
  // Nodes without a start or an end make no run.
  return hasStart || hasEnd ? "partial" : "invalid";
}

function problemsOf(facts: CompletenessFacts): string[] {
  const problems: string[] = [];
  if (!facts.has_start) problems.push("missing_pipeline_start");
  if (!facts.has_end) problems.push("missing_pipeline_end");
  let { start_timestamp: start, end_timestamp: end } = facts;
  if (start === "" || end === "") {
    start = earlier(start, facts.first_node_timestamp);
    end = later(end, facts.last_node_timestamp);
  }
  if (start !== "" && end !== "" && compareText(start, end) > 0) problems.push("start_time_gt_end_time");
  return problems;
}

/**
 * Two decimals as Python rounds them: an exact tie goes to the even digit, where `toFixed` goes up. A double is an
 * exact tie only when it is an odd multiple of 1/200, hence a multiple of 1/8.
 */
export function roundHalfEven2(value: number): number {
  const isTie = Number.isInteger(value * 8) && Math.abs(value * 200) % 2 === 1;
  if (!isTie) return Number(value.toFixed(2));
  const below = Math.floor(value * 100);
  return (below % 2 === 0 ? below : below + 1) / 100;
}
