// Serving functions wrapped by inference().

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { inference, mark, profile, scope, shutdown } from "../../src/emit/cirron.ts";
import { makeFolder } from "../support/folder.ts";
import { readSpool } from "./read-spool.ts";

afterEach(() => shutdown());

async function traced(program: () => unknown) {
  const path = makeFolder();
  profile({ path });
  await program();
  await shutdown();
  const trace = readSpool(path);
  return { ...trace, requests: trace.spans.filter((row) => row.name === "request") };
}

it("makes `request` the top scope of every call, also of concurrent ones [CT-22]", async () => {
  const predict = inference(async (input: number) => {
    await scope("model", () => sleep(5 - input));
    mark("input", input);
    return input * 2;
  });
  const { spans, marks, requests } = await traced(async () => {
    expect(await Promise.all([1, 2, 3].map((input) => predict(input)))).toEqual([2, 4, 6]);
  });
  const session = spans.find((row) => row.name === "cirron.session");
  expect(requests).toHaveLength(3);
  for (const request of requests) {
    expect(request.parent_id).toBe(session?.id);
    expect(request.attrs["request_id"]).toMatch(/^[0-9a-f]{32}$/);
    expect(spans.filter((row) => row.parent_id === request.id).map((row) => row.name)).toEqual(["model"]);
    expect(marks.filter((row) => row.span_id === request.id).map((row) => row.name)).toEqual(["input"]);
  }
});

it("keeps the function's this, arguments, result and error", async () => {
  const owner = {
    factor: 3,
    scale: inference(function (this: { factor: number }, value: number) {
      if (value < 0) throw new RangeError("negative");
      return this.factor * value;
    }),
  };
  const { requests } = await traced(() => {
    expect(owner.scale(2)).toBe(6);
    expect(() => owner.scale(-1)).toThrow(RangeError);
  });
  expect(requests.map((row) => row.attrs["error.type"])).toEqual([undefined, "RangeError"]);
});

it("marks token counts under their own and under common names [CT-22]", async () => {
  const chat = inference(async () => ({
    text: "hello",
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
  }));
  const other = inference(() => ({ usage: { input_tokens: 3, output_tokens: 4 } }));
  const { marks } = await traced(async () => {
    await chat();
    other();
  });
  const tokens = marks.filter((row) => row.name.endsWith("tokens"));
  expect(tokens.map((row) => [row.name, row.value_type, row.value, row.kind, row.attrs])).toEqual([
    ["prompt_tokens", "int", 12, "summary", { source: "openai" }],
    ["input_tokens", "int", 12, "summary", { source: "openai", normalized: true }],
    ["completion_tokens", "int", 5, "summary", { source: "openai" }],
    ["output_tokens", "int", 5, "summary", { source: "openai", normalized: true }],
    ["total_tokens", "int", 17, "summary", { source: "openai", normalized: true }],
    ["input_tokens", "int", 3, "summary", { source: "usage", normalized: true }],
    ["output_tokens", "int", 4, "summary", { source: "usage", normalized: true }],
    ["total_tokens", "int", 7, "summary", { source: "usage", normalized: true }],
  ]);
});

it("follows streams: first chunk, pace, duration, tokens per second", async () => {
  const stream = inference(async function* (count: number) {
    for (let i = 0; i < count; i++) {
      await sleep(3);
      scope("decode", () => undefined);
      yield `token ${i}`;
    }
  });
  const plain = inference(function* () {
    yield 1;
    yield 2;
  });
  const { marks, spans, requests } = await traced(async () => {
    const seen: string[] = [];
    for await (const token of stream(4)) seen.push(token);
    expect(seen).toHaveLength(4);
    for await (const _ of stream(100)) break;
    expect([...plain()]).toEqual([1, 2]);
  });
  expect(requests).toHaveLength(3);
  const of = (index: number) => marks.filter((row) => row.span_id === requests[index]?.id).map((row) => row.name);
  expect(of(0)).toEqual([
    "time_to_first_token_ms",
    "chunk_ms",
    "chunk_ms",
    "chunk_ms",
    "request_duration_ms",
    "tokens_per_second",
  ]);
  expect(of(1)).toEqual(["time_to_first_token_ms", "request_duration_ms", "tokens_per_second"]);
  expect(of(2)).toEqual(["time_to_first_token_ms", "chunk_ms", "request_duration_ms", "tokens_per_second"]);
  expect(
    spans
      .filter((row) => row.name === "decode")
      .every((row) => requests.some((request) => request.id === row.parent_id)),
  ).toBe(true);
});

it("hands back arrays and other plain answers untouched", async () => {
  const answer = [1, 2, 3];
  const list = inference(() => answer);
  await traced(() => expect(list()).toBe(answer));
});

it("follows a stream whose members cannot be changed, or leaves it alone", async () => {
  const frozen = inference(() => {
    let left = 2;
    const next = () => ({ done: left-- === 0, value: "chunk" });
    return Object.freeze({ next, [Symbol.iterator]: () => ({ next }), model: Object.freeze({ name: "m" }) });
  });
  const chunks: unknown[] = [];
  const { requests } = await traced(() => {
    const stream = frozen();
    expect(stream.model.name).toBe("m");
    chunks.push(...stream);
  });
  expect(chunks).toEqual(["chunk", "chunk"]);
  expect(requests).toHaveLength(1);
});
