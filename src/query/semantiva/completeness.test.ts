import { expect, it } from "vitest";
import { judgeLaunch, judgeRun, judgeUnknownRun, roundHalfEven2 } from "./completeness.ts";

const facts = {
  run_id: "r",
  has_start: true,
  has_end: true,
  start_timestamp: "2026-11-15T02:00:00.000Z",
  end_timestamp: "2026-11-15T02:00:01.000Z",
  first_node_timestamp: "",
  last_node_timestamp: "",
  expected: 0,
  observed: 0,
  matched: 0,
  missing_nodes: [],
  orphan_nodes: [],
  nonterminal_nodes: [],
};

it("names its problems in their fixed order, in the aggregator's own words (S6) [ST-18]", () => {
  expect(judgeRun({ ...facts, start_timestamp: "2026-11-15T03:00:00.000Z" }).problems).toEqual([
    "start_time_gt_end_time",
  ]);
  const neither = { ...facts, has_start: false, has_end: false, start_timestamp: "", end_timestamp: "", observed: 1 };
  expect(judgeRun(neither)).toMatchObject({
    status: "invalid",
    problems: ["missing_pipeline_start", "missing_pipeline_end"],
  });
});

it("takes a missing edge's time from the nodes, and widens the other edge by them", () => {
  const open = { ...facts, has_end: false, end_timestamp: "", last_node_timestamp: "2026-11-15T01:00:00.000Z" };
  expect(judgeRun({ ...open, first_node_timestamp: "2026-11-15T00:59:00.000Z" }).problems).toEqual([
    "missing_pipeline_end",
  ]);
  expect(judgeRun(open).problems).toEqual(["missing_pipeline_end", "start_time_gt_end_time"]);
});

it("sorts node ids by code point", () => {
  const ids = ["\u{1f680}", "\uffee", "b", "a"];
  expect(judgeRun({ ...facts, expected: 4, missing_nodes: ids }).missing_nodes).toEqual([
    "a",
    "b",
    "\uffee",
    "\u{1f680}",
  ]);
});

it.each([
  [60, 60],
  [200 / 3, 66.67],
  [(1 / 800) * 100, 0.12],
  [(3 / 800) * 100, 0.38],
  [12.125, 12.12],
  [0.005, 0.01],
  [1.005, 1],
  [100, 100],
])("rounds %d to %d as Python does", (value, rounded) => {
  expect(roundHalfEven2(value)).toBe(rounded);
});

it("calls an id it has no record of unknown [ST-18]", () => {
  expect(judgeUnknownRun("x")).toMatchObject({ run_id: "x", status: "invalid", problems: ["unknown_run"] });
});

it.each([
  [true, true, { complete: 2, partial: 0, invalid: 0 }, "complete", []],
  [true, true, { complete: 0, partial: 0, invalid: 0 }, "complete", []],
  [true, true, { complete: 1, partial: 1, invalid: 0 }, "partial", []],
  [true, true, { complete: 1, partial: 0, invalid: 1 }, "partial", []],
  [true, false, { complete: 1, partial: 0, invalid: 0 }, "partial", ["missing_run_space_end"]],
  [false, true, { complete: 0, partial: 0, invalid: 0 }, "partial", ["missing_run_space_start"]],
  [false, true, { complete: 1, partial: 0, invalid: 0 }, "invalid", ["missing_run_space_start"]],
  [
    false,
    false,
    { complete: 1, partial: 0, invalid: 0 },
    "invalid",
    ["missing_run_space_start", "missing_run_space_end"],
  ],
] as const)(
  "judges a launch with start %s, end %s and runs %j as %s [ST-18]",
  (has_start, has_end, runs, status, problems) => {
    const launch = { launch_id: "l", attempt: 1, has_start, has_end, planned_run_count: null, runs_by_status: runs };
    expect(judgeLaunch(launch)).toMatchObject({ status, problems });
  },
);
