// A wrapper or a path may put several pipelines under one run. Each is judged for itself; the run is as complete as the
// least of them.

import type { CompletenessStatus, PipelineOutcome, RunCompleteness, RunSuccess } from "#api/contract/pipeline.ts";
import { compareText } from "#base/compare-text.ts";
import { judgeUnknownRun, roundHalfEven2 } from "./completeness.ts";

const statusRank: Readonly<Record<CompletenessStatus, number>> = { complete: 0, partial: 1, invalid: 2 };
const outcomeRank: Readonly<Record<PipelineOutcome, number>> = {
  succeeded: 0,
  unfinished: 1,
  interrupted: 2,
  failed: 3,
};

export function combineCompleteness(runId: string, verdicts: readonly RunCompleteness[]): RunCompleteness {
  const [first] = verdicts;
  if (first === undefined) return judgeUnknownRun(runId);
  if (verdicts.length === 1) return { ...first, run_id: runId };
  const union = (pick: (one: RunCompleteness) => readonly string[]) => [...new Set(verdicts.flatMap(pick))];
  const sum = (pick: (one: RunCompleteness) => number) => verdicts.reduce((total, one) => total + pick(one), 0);
  const expected = sum(({ summary }) => summary.nodes_total_expected ?? 0);
  const missing = sum(({ missing_nodes }) => missing_nodes.length);
  return {
    run_id: runId,
    status: verdicts.map(({ status }) => status).reduce((a, b) => (statusRank[a] >= statusRank[b] ? a : b)),
    problems: union(({ problems }) => problems),
    missing_nodes: union(({ missing_nodes }) => missing_nodes).sort(compareText),
    orphan_nodes: union(({ orphan_nodes }) => orphan_nodes).sort(compareText),
    nonterminal_nodes: union(({ nonterminal_nodes }) => nonterminal_nodes).sort(compareText),
    summary: {
      nodes_total_expected: expected === 0 ? null : expected,
      nodes_observed: sum(({ summary }) => summary.nodes_observed),
      coverage_pct: expected === 0 ? null : roundHalfEven2(((expected - missing) / expected) * 100),
      has_start: verdicts.every(({ summary }) => summary.has_start),
      has_end: verdicts.every(({ summary }) => summary.has_end),
    },
  };
}

export function combineSuccess(successes: readonly RunSuccess[]): RunSuccess {
  const worst = successes.reduce<RunSuccess | undefined>(
    (a, b) => (a === undefined || outcomeRank[b.outcome] > outcomeRank[a.outcome] ? b : a),
    undefined,
  );
  const failed = new Set(successes.flatMap(({ failed_nodes }) => failed_nodes));
  return {
    outcome: worst?.outcome ?? "unfinished",
    status_raw: worst?.status_raw ?? "",
    failed_nodes: [...failed].sort(compareText),
  };
}
