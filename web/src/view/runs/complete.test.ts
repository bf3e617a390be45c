import { expect, test } from "vitest";
import type { FieldInfo } from "#api/contract/run.ts";
import { applySuggestion, completeFilter, quoteField } from "./complete.ts";

const fields: FieldInfo[] = [
  { field: "status", kind: "run", type: "text", runs: 9, examples: ["running", "failed"] },
  { field: "params.lr", kind: "param", type: "number", runs: 9, examples: ["0.1", "0.01"] },
  { field: "params.my key", kind: "param", type: "text", runs: 2, examples: ["a b"] },
  { field: "metrics.loss.last", kind: "metric", type: "number", runs: 9, examples: [] },
];

function texts(text: string): string[] {
  return completeFilter(text, text.length, fields).suggestions.map((each) => each.text);
}

test("offers fields for a beginning word, best match first", () => {
  expect(texts("l")).toEqual(["params.lr", "metrics.loss.last"]);
  expect(texts("sta")).toEqual(["status"]);
  expect(texts("(my")).toEqual(['params."my key"']);
});

test("offers known values after an operator", () => {
  expect(texts("status:")).toEqual(["running", "failed"]);
  expect(texts("status:fai")).toEqual(["failed"]);
  expect(texts('params."my key"=')).toEqual(['"a b"']);
});

test("offers AND and OR after a finished test, then fields again", () => {
  expect(texts("status:failed ")).toEqual(["AND", "OR"]);
  expect(texts("status:failed AND lr")).toEqual(["params.lr"]);
});

test("takes a suggestion in the middle of the text", () => {
  const text = "sta AND params.lr<1";
  const completion = completeFilter(text, 3, fields);
  expect(applySuggestion(text, completion, "status")).toEqual({ text: "status AND params.lr<1", caret: 6 });
});

test("quotes odd metric keys before their value word", () => {
  expect(quoteField("metrics.a b.last")).toBe('metrics."a b".last');
});
