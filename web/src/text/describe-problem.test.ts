import { expect, test } from "vitest";
import { describeProblem } from "./describe-problem.ts";

test("says in words what is wrong", () => {
  expect(describeProblem("missing_run_space_end")).toBe("the end of the run space is missing");
  expect(describeProblem("missing_pipeline_start")).toBe("the start of the pipeline is missing");
  expect(describeProblem("start_time_gt_end_time")).toBe("it ends before it starts");
  expect(describeProblem("something_else")).toBe("something else");
});
