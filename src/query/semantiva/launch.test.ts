import { expect, it } from "vitest";
import { judgeLaunchHead, readLaunchStart } from "./launch.ts";

const head = {
  launch_key: "w/l/x/1",
  launch_id: "x",
  attempt: 1,
  has_start: true,
  has_end: true,
  outcome: "failed",
  planned_runs: 3,
  total_runs: 3,
  start_ns: 1n,
  end_ns: 2n,
  last_received_ns: 3n,
  indexes: 2,
  runs: [
    { has_end: true, outcome: "ok", failed_nodes: 0, count: 1 },
    { has_end: true, outcome: "error", failed_nodes: 1, count: 1 },
  ],
};

it("calls a launch with two of three planned runs, one failed, complete and failed (S5) [ST-18]", () => {
  expect(judgeLaunchHead(head)).toMatchObject({
    planned: 3,
    runs: 2,
    completeness: { status: "complete", problems: [], summary: { runs_total: 2, planned_run_count: 3 } },
    success: { outcome: "failed", status_raw: "failed", missing_runs: 1 },
  });
});

it("counts a launch that was launched again by its indexes (S10)", () => {
  const again = {
    ...head,
    outcome: "",
    indexes: 3,
    runs: [{ has_end: true, outcome: "ok", failed_nodes: 0, count: 6 }],
  };
  expect(judgeLaunchHead(again)).toMatchObject({ runs: 6, success: { outcome: "succeeded", missing_runs: 0 } });
});

it("takes the plan from the total where no planned count is given, but reports only what was sent", () => {
  const judged = judgeLaunchHead({ ...head, planned_runs: null });
  expect(judged).toMatchObject({ planned: 3, completeness: { summary: { planned_run_count: null } } });
});

it("reads the constants of a start line once for all runs, as they were written [ST-14]", () => {
  const sha256 = "b".repeat(64);
  const line = `{"record_type": "run_space_start", "run_id": "x", "run_space_spec_id": "s", "run_space_combine_mode": "by_position",
    "run_space_total_runs": 3, "novel": 1.0, "run_space_input_fingerprints": [{"role": "r", "uri": "u", "digest": {"sha256": "${sha256}"}}]}`;
  expect(readLaunchStart(line)).toEqual({
    spec_id: "s",
    inputs_id: "",
    combine_mode: "by_position",
    constants: { run_space_total_runs: "3", novel: "1.0" },
    inputs: [{ role: "r", uri: "u", sha256 }],
  });
  expect(readLaunchStart("")).toMatchObject({ spec_id: "", constants: {}, inputs: [] });
});
