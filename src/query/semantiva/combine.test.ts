import { expect, it } from "vitest";
import { combineCompleteness, combineSuccess } from "./combine.ts";
import { judgeRun } from "./completeness.ts";

const whole = judgeRun({
  run_id: "own",
  has_start: true,
  has_end: true,
  start_timestamp: "a",
  end_timestamp: "b",
  first_node_timestamp: "",
  last_node_timestamp: "",
  expected: 2,
  observed: 2,
  matched: 2,
  missing_nodes: [],
  orphan_nodes: [],
  nonterminal_nodes: [],
});

it("gives a run of one pipeline that pipeline's verdict, under the run's own name", () => {
  expect(combineCompleteness("job", [whole])).toEqual({ ...whole, run_id: "job" });
  expect(combineCompleteness("job", []).problems).toEqual(["unknown_run"]);
});

it("is as complete as the least of a run's pipelines", () => {
  const open = {
    ...whole,
    status: "partial" as const,
    problems: ["missing_pipeline_end"],
    missing_nodes: ["n"],
    summary: { ...whole.summary, has_end: false, nodes_observed: 1, coverage_pct: 50 },
  };
  expect(combineCompleteness("job", [whole, open])).toMatchObject({
    status: "partial",
    problems: ["missing_pipeline_end"],
    missing_nodes: ["n"],
    summary: { nodes_total_expected: 4, nodes_observed: 3, coverage_pct: 75, has_start: true, has_end: false },
  });
});

it("is as successful as the least of a run's pipelines", () => {
  const good = { outcome: "succeeded" as const, status_raw: "ok", failed_nodes: [] };
  const bad = { outcome: "failed" as const, status_raw: "error", failed_nodes: ["n"] };
  expect(combineSuccess([good, bad, good])).toEqual(bad);
  expect(combineSuccess([])).toEqual({ outcome: "unfinished", status_raw: "", failed_nodes: [] });
});
