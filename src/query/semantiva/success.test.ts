import { expect, it } from "vitest";
import { feed, readLines } from "../../../tests/semantiva/feed.ts";
import { aggregateRun } from "./aggregate.ts";
import { judgeLaunchSuccess, judgeRunSuccess, toRunOutcome } from "./success.ts";

function successOf(lines: readonly string[]) {
  const { lifecycle, nodes } = feed(lines);
  return judgeRunSuccess(aggregateRun("r", lifecycle, nodes));
}

it("tells a complete run that failed from one that succeeded (S5)", () => {
  expect(successOf(readLines("plain_file/trace.ser.jsonl"))).toEqual({
    outcome: "succeeded",
    status_raw: "ok",
    failed_nodes: [],
  });
  expect(successOf(readLines("error_midway/trace.ser.jsonl"))).toEqual({
    outcome: "failed",
    status_raw: "error",
    failed_nodes: ["e1163e12-a303-5ef3-9025-e16c2459934f"],
  });
});

it("calls a run without its end unfinished, and failed once a node has failed (S7)", () => {
  const lines = readLines("error_midway/trace.ser.jsonl");
  expect(successOf(lines.slice(0, 2)).outcome).toBe("unfinished");
  expect(successOf(lines.slice(0, 4)).outcome).toBe("failed");
});

it.each([
  [{ has_end: true, outcome: "ok", failed_nodes: 0 }, "succeeded"],
  [{ has_end: true, outcome: "", failed_nodes: 0 }, "succeeded"],
  [{ has_end: true, outcome: "", failed_nodes: 1 }, "failed"],
  [{ has_end: true, outcome: "error", failed_nodes: 0 }, "failed"],
  [{ has_end: true, outcome: "interrupted", failed_nodes: 0 }, "interrupted"],
] as const)("reads %j as %s", (facts, outcome) => {
  expect(toRunOutcome(facts)).toBe(outcome);
});

it("tells a launch that stopped early from one that went well (S5, S6)", () => {
  const runs = { succeeded: 1, failed: 1, interrupted: 0, unfinished: 0 };
  expect(judgeLaunchSuccess({ has_end: true, outcome: "failed", planned: 3, started: 2, runs })).toMatchObject({
    outcome: "failed",
    status_raw: "failed",
    missing_runs: 1,
  });
  const well = { ...runs, succeeded: 3, failed: 0 };
  const launch = { has_end: true, outcome: "", planned: 3, started: 3, runs: well };
  expect(judgeLaunchSuccess(launch)).toMatchObject({ outcome: "succeeded", missing_runs: 0 });
  expect(judgeLaunchSuccess({ ...launch, outcome: "interrupted" }).outcome).toBe("interrupted");
  expect(judgeLaunchSuccess({ ...launch, has_end: false }).outcome).toBe("unfinished");
  expect(judgeLaunchSuccess({ ...launch, planned: 4 }).outcome).toBe("unfinished");
  expect(judgeLaunchSuccess({ ...launch, planned: null }).missing_runs).toBeNull();
});
