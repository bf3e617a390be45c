import { expect, test } from "vitest";
import { chartColumns, completeSql } from "./sql-complete.ts";

const schema = {
  tables: [
    {
      name: "metrics",
      means: "points",
      columns: [
        { name: "value", type: "Float64" },
        { name: "run_id", type: "String" },
      ],
    },
    {
      name: "spans",
      means: "",
      columns: [
        { name: "wall_ns", type: "Int64" },
        { name: "run_id", type: "String" },
      ],
    },
  ],
  functions: ["avg"],
};

function texts(text: string): string[] {
  return completeSql(text, text.length, schema).suggestions.map((each) => each.text);
}

test("offers tables, keywords and functions by their beginning", () => {
  expect(texts("SELECT * FROM me")).toEqual(["metrics"]);
  expect(texts("SEL")).toEqual(["SELECT"]);
  expect(texts("SELECT av")).toEqual(["avg("]);
});

test("offers only columns of tables that the query names", () => {
  const text = "SELECT wa FROM metrics";
  expect(completeSql(text, 9, schema).suggestions).toEqual([]);
  expect(completeSql("SELECT va FROM metrics", 9, schema).suggestions.map((each) => each.text)).toEqual(["value"]);
});

test("offers nothing for an empty word", () => {
  expect(texts("SELECT ")).toEqual([]);
});

test("draws the other numbers against the first", () => {
  expect(
    chartColumns([
      { name: "s", type: "Nullable(Int64)" },
      { name: "n", type: "String" },
      { name: "v", type: "Float64" },
    ]),
  ).toEqual({
    x: 0,
    ys: [2],
  });
  expect(chartColumns([{ name: "v", type: "Float64" }])).toBeNull();
});
