import { expect, test } from "vitest";
import type { FieldInfo } from "#api/contract/run.ts";
import { chooseColumns, chooseSpark, headingOf, keepOrder, nextSort, parseRunsSearch } from "./runs-search.ts";

function field(name: string, kind: FieldInfo["kind"], runs: number, examples = ["a", "b"]): FieldInfo {
  return { field: name, kind, type: "number", runs, examples };
}

const fields = [
  field("params.lr", "param", 14),
  field("params.seed", "param", 14, ["1"]),
  field("params.width", "param", 12),
  field("metrics.tokens_per_s.last", "metric", 14),
  field("metrics.loss.last", "metric", 14),
  field("metrics.loss.min", "metric", 14),
  field("metrics.val_loss.last", "metric", 12),
];

test("first shows the parameters that vary, then losses", () => {
  expect(chooseColumns(fields)).toEqual(["params.lr", "params.width", "metrics.val_loss.last", "metrics.loss.last"]);
});

test("first shows what people choose, not what numbers the runs", () => {
  const many = ["1", "2", "3", "4", "5", "6", "7", "8"];
  const sweep = [
    field("params.seed", "param", 100, many),
    field("params.run_id", "param", 100, many),
    field("params.output_dir", "param", 100, many),
    field("params.optimizer", "param", 100),
    field("params.model.depth", "param", 90),
    field("params.noise", "param", 100),
  ];
  expect(chooseColumns(sweep)).toEqual(["params.optimizer", "params.model.depth", "params.noise"]);
});

test("draws the training loss as the sparkline", () => {
  expect(chooseSpark(fields)).toBe("loss");
  expect(chooseSpark([])).toBeUndefined();
});

test("a heading click goes ascending, descending, none", () => {
  expect(nextSort(undefined, "params.lr")).toEqual(["params.lr"]);
  expect(nextSort(["params.lr"], "params.lr")).toEqual(["-params.lr"]);
  expect(nextSort(["-params.lr"], "params.lr")).toBeUndefined();
});

test("headings leave out the kind and say which value it is unless it is the last", () => {
  expect(["metrics.loss@train.last", "metrics.val_loss@val.min"].map(headingOf)).toEqual([
    "train loss",
    "val_loss min",
  ]);
  expect(["params.lr", "metrics.a.b.last", "metrics.a.min", "experiment"].map(headingOf)).toEqual([
    "lr",
    "a.b",
    "a min",
    "experiment",
  ]);
});

test("rows keep their place when new runs arrive", () => {
  expect(keepOrder(["b", "c", "d"], ["a", "b", "d", "e"])).toEqual({ order: ["b", "d"], added: 2 });
});

test("reads a view from a URL and drops nonsense", () => {
  expect(parseRunsSearch({ filter: "x", columns: "a", archived: "maybe", other: "1" })).toEqual({
    filter: "x",
    columns: ["a"],
  });
});
