import { expect, test } from "vitest";
import { toModelCall } from "./model-call.ts";

test("tells of a call to a model what was asked of which one, and its tokens", () => {
  const attrs = {
    "gen_ai.usage.input_tokens": 12_345,
    "gen_ai.request.model": "asked",
    "gen_ai.response.model": "answered",
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.completion_tokens": "9007199254740993",
    "server.port": 443,
  };
  expect(toModelCall(JSON.stringify(attrs))).toEqual([
    ["operation", "chat"],
    ["model", "answered"],
    ["input tokens", "12\u202f345"],
    ["output tokens", "9007199254740993"],
  ]);
});

test("says nothing of other spans", () => {
  expect(toModelCall('{"batch":32}')).toEqual([]);
  expect(toModelCall("")).toEqual([]);
});
