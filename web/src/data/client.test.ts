import { expect, test } from "vitest";
import { Refusal, urlOf } from "./client.ts";

test("percent-encodes ids and metric keys as single segments", () => {
  expect(urlOf("metric", { params: { id: "a/b", key: "train/loss" } })).toBe("/api/v1/runs/a%2Fb/metrics/train%2Floss");
});

test("repeats list parameters and leaves out what is empty", () => {
  expect(urlOf("runs", { query: { columns: ["params.lr", "metrics.a.last"], filter: "" } })).toBe(
    "/api/v1/runs?columns=params.lr&columns=metrics.a.last",
  );
});

test("writes numbers in a path", () => {
  expect(urlOf("launch", { params: { id: "l", attempt: 2 } })).toBe("/api/v1/launches/l/2");
});

test("tells people what a refusal hints at, unless it is a route for programs", () => {
  const hintOf = (hint: string) => new Refusal(404, { code: "run_not_found", message: "", hint, at: null }).answer.hint;
  expect(hintOf("List runs with GET /api/v1/runs; any id works.")).toBe("");
  expect(hintOf("Write a number after <.")).toBe("Write a number after <.");
});
