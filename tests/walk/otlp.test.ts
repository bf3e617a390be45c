// OTLP from a real request through the engine to the answers: spans, points and logs, and what an exporter is told.

import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import * as fixture from "#wire/otlp/fixture.testing.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { suiteApp, type TestApp, testApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";

const walk = suiteApp({ bodyBytesMax: "200 KiB" });

async function ask<T>(path: string): Promise<T> {
  await walk.app.collector.drained();
  const { status, body } = await walk.get(`/api/v1${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body as T;
}

async function sql(query: string): Promise<unknown[][]> {
  await walk.app.collector.drained();
  const { status, body } = await walk.post("/api/v1/sql", JSON.stringify({ query }));
  expect([query, status, status === 200 ? "" : body]).toEqual([query, 200, ""]);
  return (body as { rows: unknown[][] }).rows;
}

/** As an exporter posts it: protobuf, and the answer's bytes. */
async function send(path: string, body: Uint8Array, headers: Record<string, string> = {}) {
  const answer = await fetch(walk.app.url + path, {
    method: "POST",
    body: body as Uint8Array<ArrayBuffer>,
    headers: { "content-type": "application/x-protobuf", ...headers },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get("content-type"), bytes, headers: answer.headers };
}

const whole = { status: 200, type: "application/x-protobuf", bytes: Buffer.alloc(0) };

function ofRun(run: string, more: typeof fixture.someResource = {}): typeof fixture.someResource {
  return { ...fixture.someResource, "nemo.run.id": run, ...more };
}

function steps(count: number, from = 1): object[] {
  return Array.from({ length: count }, (_, at) =>
    fixture.someSpan(from + at, {
      attributes: fixture.toList({ "megatron.iteration": BigInt(from + at), "megatron.loss": 2.5 / (from + at) }),
    }),
  );
}

test("spans of a training are a run with steps, points, params and a timeline, however often they come [OT-01] [OT-04] [OT-08] [OT-16] [OT-21] [OT-22]", async () => {
  const request = fixture.tracesOf(steps(2), ofRun("nemo-1"));
  const sent = JSON.stringify(request);
  expect(await walk.post("/v1/traces", sent)).toEqual({ status: 200, body: {} });
  const json = { "content-type": "application/json" };
  for (const [encoding, body] of [
    ["gzip", gzipSync(sent)],
    ["zstd", zstdCompressSync(sent)],
  ] as const)
    expect(await walk.post("/v1/otlp/v1/traces", body, { ...json, "content-encoding": encoding })).toEqual({
      status: 200,
      body: {},
    });
  expect(await send("/v1/traces", fixture.toProtobuf("traces", request))).toMatchObject(whole);
  expect(await ask("/runs/nemo-1")).toMatchObject({ id: "nemo-1", protocols: ["otlp"], counts: { spans: 2 } });
  expect(
    await sql(
      "SELECT step, value, worker FROM metrics WHERE run_id = 'nemo-1' AND key = 'megatron.loss' ORDER BY step",
    ),
  ).toEqual([
    ["1", 2.5, "3"],
    ["2", 1.25, "3"],
  ]);
  const { params } = await ask<{ params: { name: string; value: unknown }[] }>("/runs/nemo-1/params");
  expect(params).toContainEqual(
    expect.objectContaining({ name: "megatron.num_layers", value: "12", origin: "resource" }),
  );
  expect(JSON.stringify(await ask("/runs/nemo-1/spans"))).toContain("train_step");
  expect(await ask("/runs/nemo-1/spans/by-id/0000000000001001")).toMatchObject({
    name: "train_step",
    rank: 3,
    index: "1",
  });
});

test("a resource says where its run ran and out of which source", async () => {
  const where = { "host.name": "node-4", "process.pid": 77n, "telemetry.sdk.version": "1.38.0" };
  const whence = { "vcs.ref.head.revision": "5f3c2a91d0", "vcs.repository.ref.name": "main" };
  const request = fixture.tracesOf(steps(1), ofRun("placed", { ...where, ...whence }));
  expect(await send("/v1/traces", fixture.toProtobuf("traces", request))).toMatchObject(whole);
  expect(await ask("/runs/placed")).toMatchObject({
    env: { "host.name": "node-4", "process.pid": "77", "telemetry.sdk.version": "1.38.0" },
    source: { git_commit: "5f3c2a91d0", git_branch: "main" },
  });
});

test("runs are found and compared by what their resource says of host, commit and branch", async () => {
  const elsewhere = { "host.name": "node-5", "process.owner": "ada", "vcs.ref.head.revision": "9b1d77c0aa" };
  const request = fixture.tracesOf(steps(1), ofRun("placed-elsewhere", elsewhere));
  expect(await send("/v1/traces", fixture.toProtobuf("traces", request))).toMatchObject(whole);
  const idsOf = async (filter: string) => {
    const { runs } = await ask<{ runs: { id: string }[] }>(`/runs?filter=${encodeURIComponent(filter)}`);
    return runs.map(({ id }) => id).sort();
  };
  expect(await idsOf("host:node-5")).toEqual(["placed-elsewhere"]);
  expect(await idsOf("host:node-4 OR user:ada")).toEqual(["placed", "placed-elsewhere"]);
  expect(await idsOf("commit:5f3c2a91d0 AND branch:main")).toEqual(["placed"]);
  type Rows = { name: string; values: (string | null)[]; differs: boolean }[];
  const compared = await ask<{ env: Rows; source: Rows }>("/compare?run=placed&run=placed-elsewhere&part=params");
  expect(compared.env.find(({ name }) => name === "host.name")).toEqual({
    name: "host.name",
    values: ['"node-4"', '"node-5"'],
    differs: true,
  });
  expect(compared.source.find(({ name }) => name === "git_commit")?.values).toEqual(['"5f3c2a91d0"', '"9b1d77c0aa"']);
});

test("every kind of point is kept whole, and what is a number is drawn [OT-02] [OT-18] [OT-19]", async () => {
  const body = fixture.toProtobuf("metrics", fixture.metricsOf(fixture.everyMetric, ofRun("points")));
  expect(await send("/v1/metrics", body)).toMatchObject(whole);
  expect(await send("/v1/otlp/v1/metrics", body)).toMatchObject(whole);
  const rows = await sql("SELECT key, value, step FROM metrics WHERE run_id = 'points' ORDER BY key");
  expect(rows).toEqual([
    ["latency.count", 4, null],
    ["latency.mean", 2.5, null],
    ["latency.sum", 10, null],
    ["megatron.training.loss{split=train}", 2.5, null],
    ["rpc.count", 2, null],
    ["rpc.mean", 1.5, null],
    ["rpc.p50", 1, null],
    ["rpc.p99", 2, null],
    ["rpc.sum", 3, null],
    ["step_duration_ms.count", 3, null],
    ["step_duration_ms.max", 20, null],
    ["step_duration_ms.mean", 30.5 / 3, null],
    ["step_duration_ms.min", 4, null],
    ["step_duration_ms.sum", 30.5, null],
    ["tokens", 9007199254740992, null],
  ]);
  expect(
    await sql("SELECT name, kind, unit, temporality FROM otel_points WHERE run_id = 'points' ORDER BY name"),
  ).toEqual([
    ["latency", "exponentialHistogram", "", "2"],
    ["megatron.training.loss", "gauge", "1", "0"],
    ["rpc", "summary", "", "0"],
    ["step_duration_ms", "histogram", "", "1"],
    ["tokens", "sum", "", "2"],
  ]);
});

test("log records keep their severity, body and trace [OT-03] [OT-20]", async () => {
  const body = fixture.toProtobuf("logs", fixture.logsOf(fixture.someLogs, ofRun("logged")));
  expect(await send("/v1/logs", body)).toMatchObject(whole);
  expect(await send("/v1/logs", body)).toMatchObject(whole);
  const { logs } = await ask<{ logs: object[] }>("/runs/logged/logs");
  expect(logs).toHaveLength(3);
  expect(logs).toContainEqual(expect.objectContaining({ level: "error", msg: "loss is NaN", logger: "trainer" }));
  expect(
    await sql(
      "SELECT severity_number, body, trace_id, event_name FROM otel_logs WHERE run_id = 'logged' ORDER BY severity_number",
    ),
  ).toEqual([
    ["0", "", "", ""],
    ["9", '{"a":1,"b":1.0}', "", ""],
    ["17", "loss is NaN", fixture.someTraceId, "diverged"],
  ]);
});

test("equal log records of one request are two, and those of a request that comes again are none [OT-08]", async () => {
  const line = { timeUnixNano: String(fixture.someStartNs), body: { stringValue: "again" } };
  const body = fixture.toProtobuf("logs", fixture.logsOf([line, line], ofRun("twice")));
  await send("/v1/logs", body);
  await send("/v1/logs", body);
  expect(await sql("SELECT count() FROM logs WHERE run_id = 'twice'")).toEqual([["2"]]);
});

test("an empty request is a success, in its own encoding [OT-07]", async () => {
  for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"]) {
    expect(await send(path, new Uint8Array(0))).toMatchObject(whole);
    expect(await walk.post(path, "{}")).toEqual({ status: 200, body: {} });
  }
});

test("records that are none are counted in a partial success and kept as faults; the others are taken [OT-06]", async () => {
  const spans = [fixture.someSpan(1), fixture.someSpan(2, { spanId: "abcd" })];
  const request = fixture.tracesOf(spans, ofRun("partial"));
  expect(await walk.post("/v1/traces", JSON.stringify(request))).toEqual({
    status: 200,
    body: {
      partialSuccess: { rejectedSpans: "1", errorMessage: expect.stringContaining("no span id of 8 bytes") },
    },
  });
  const { bytes, status } = await send("/v1/traces", fixture.toProtobuf("traces", request));
  // partial_success { rejected_spans: 1, error_message: … }
  expect([status, bytes[0], bytes[2], bytes[3], bytes.toString().includes("no span id")]).toEqual([
    200,
    10,
    8,
    1,
    true,
  ]);
  const odd = fixture.tracesOf([fixture.someSpan(3), { ...fixture.someSpan(4), kind: "SERVER" }], ofRun("partial"));
  expect(await walk.post("/v1/traces", JSON.stringify(odd))).toMatchObject({
    body: { partialSuccess: { rejectedSpans: "1" } },
  });
  expect(await sql("SELECT count() FROM spans WHERE run_id = 'partial'")).toEqual([["2"]]);
  expect(await sql("SELECT count() FROM faults WHERE protocol = 'otlp' AND code = 'otlp_record'")).toEqual([["2"]]);
});

test("what is no request is refused for good, with a status, and kept [OT-23]", async () => {
  const refused = await send("/v1/metrics", Buffer.from("no protobuf at all"));
  expect([refused.status, refused.type]).toEqual([400, "application/x-protobuf"]);
  // google.rpc.Status { code: INVALID_ARGUMENT, message: … }
  expect([refused.bytes[0], refused.bytes[1], refused.bytes[2]]).toEqual([8, 3, 0x12]);
  expect(await walk.post("/v1/logs", '{"resourceLogs":[')).toMatchObject({ status: 400, body: { code: 3 } });
  expect(await walk.post("/v1/logs", '{"resourceLogs":5}')).toMatchObject({ status: 400, body: { code: 3 } });
  expect(await sql("SELECT count() FROM faults WHERE protocol = 'otlp' AND code != 'otlp_record'")).toEqual([["3"]]);
});

test("a body beyond the limit after decompression is 413 [OT-24]", async () => {
  const large = Buffer.alloc(300 * 1024, 0x20);
  expect((await send("/v1/traces", large)).status).toBe(413);
  expect((await send("/v1/metrics", gzipSync(large), { "content-encoding": "gzip" })).status).toBe(413);
  expect((await send("/v1/logs", zstdCompressSync(large), { "content-encoding": "zstd" })).status).toBe(413);
});

test("a run is named by the header, by the resource, or is the process [OT-17]", async () => {
  const name = async (resource: typeof fixture.someResource, headers: Record<string, string> = {}) => {
    const number = 100 + named.length;
    const body = fixture.toProtobuf("traces", fixture.tracesOf([fixture.someSpan(number)], resource));
    await send("/v1/traces", body, headers);
    named.push(number);
    const id = (0x1000 + number).toString(16).padStart(16, "0");
    return (await sql(`SELECT run_id FROM spans WHERE span_id = '${id}'`))[0]?.[0];
  };
  const named: number[] = [];
  expect(await name(ofRun("by-nemo"), { "x-tributary-run": "by-header", "x-mlflow-run-id": "m" })).toBe("by-header");
  expect(await name(ofRun("by-nemo", { "tributary.run.id": "by-resource" }))).toBe("by-resource");
  expect(await name(ofRun("by-nemo"), { "x-mlflow-run-id": "m" })).toBe("by-nemo");
  expect(await name({ "service.name": "vllm" }, { "x-mlflow-run-id": "mlflow-1" })).toBe("mlflow-1");
  expect(await name({ "service.name": "vllm", "service.instance.id": "a1" })).toBe("vllm-a1");
  expect(await name({ "service.name": "vllm", "host.name": "gpu1", "process.pid": 42n })).toBe("vllm-gpu1-42");
  expect(await name({ "service.name": "vllm" })).toBe("vllm");
  expect(await name({})).toBe("unknown_service");
});

test("OTLP beside XTrack under one id is one run [OT-25]", async () => {
  await send("/v1/traces", fixture.toProtobuf("traces", fixture.tracesOf(steps(1, 50), ofRun("shared"))));
  const payload = { run_id: "shared" };
  const frames = toFrame({ type: "run_start", seq: 1, ts: 1_790_000_000_000_000, wid: "w0", payload });
  const headers = { "content-type": "application/octet-stream" };
  expect(await walk.post("/v1/xtrack", frames, headers)).toMatchObject({ status: 202 });
  expect(await ask("/runs/shared")).toMatchObject({ protocols: ["otlp", "xtrack"] });
});

test("a known span with other content is a fault, and the first one stays, also after a restart [OT-08]", async () => {
  const spanOf = (name: string) =>
    fixture.toProtobuf("traces", fixture.tracesOf([fixture.someSpan(200, { name })], ofRun("conflict")));
  await send("/v1/traces", spanOf("first"));
  await send("/v1/metrics", fixture.toProtobuf("metrics", fixture.metricsOf(fixture.everyMetric, ofRun("conflict"))));
  await send("/v1/logs", fixture.toProtobuf("logs", fixture.logsOf(fixture.someLogs, ofRun("conflict"))));
  await walk.app.collector.drained();
  const count = async () =>
    sql(
      `SELECT (SELECT count() FROM spans WHERE run_id = 'conflict'), (SELECT count() FROM logs WHERE run_id = 'conflict'),
        (SELECT count() FROM otel_points WHERE run_id = 'conflict'), (SELECT count() FROM params WHERE run_id = 'conflict')`,
    );
  const before = await count();
  await walk.reopen();
  await send("/v1/traces", spanOf("first"));
  await send("/v1/traces", spanOf("second"));
  await send("/v1/metrics", fixture.toProtobuf("metrics", fixture.metricsOf(fixture.everyMetric, ofRun("conflict"))));
  await send("/v1/logs", fixture.toProtobuf("logs", fixture.logsOf(fixture.someLogs, ofRun("conflict"))));
  expect(await count()).toEqual(before);
  expect(await sql("SELECT name FROM spans WHERE run_id = 'conflict'")).toEqual([["first"]]);
  expect(await sql("SELECT detail FROM faults WHERE run_id = 'conflict'")).toEqual([
    ["another span 00000000000010c8 of this trace is known with other content"],
  ]);
});

test("gen_ai attributes have columns of their own [OT-26]", async () => {
  const attributes = fixture.toList({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "llama",
    "gen_ai.system": "vllm",
    "gen_ai.usage.input_tokens": 12n,
    "gen_ai.usage.output_tokens": 34n,
  });
  const body = fixture.tracesOf(
    [fixture.someSpan(300, { attributes, status: { code: 2, message: "oom" } })],
    ofRun("genai"),
  );
  await send("/v1/traces", fixture.toProtobuf("traces", body));
  expect(
    await sql(
      `SELECT operation, model, provider, input_tokens, output_tokens, status_code, status_message, service
        FROM otel_spans WHERE run_id = 'genai'`,
    ),
  ).toEqual([["chat", "llama", "vllm", "12", "34", "2", "oom", "pretrain"]]);
});

test("an export of a run brings all of it back, value for value [OT-13]", async () => {
  const full: Record<Signal, object> = {
    traces: fixture.tracesOf([fixture.fullSpan, fixture.someSpan(8)], ofRun("copy")),
    metrics: fixture.metricsOf(fixture.everyMetric, ofRun("copy")),
    logs: fixture.logsOf(fixture.someLogs, ofRun("copy")),
  };
  for (const [signal, request] of Object.entries(full))
    await send(`/v1/${signal}`, fixture.toProtobuf(signal as Signal, request));
  await walk.app.collector.drained();
  const lines = async (from: TestApp) => {
    const answer = await fetch(`${from.app.url}/api/v1/runs/copy/export?format=jsonl`);
    return (await answer.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; record?: unknown; text?: string })
      .filter(({ kind }) => kind.startsWith("otlp"));
  };
  const exported = await lines(walk);
  expect(exported.map(({ kind }) => kind)).toEqual(["otlp_traces", "otlp_metrics", "otlp_logs"]);
  const other = await testApp();
  for (const { kind, record, text = JSON.stringify(record) } of exported)
    await fetch(`${other.app.url}/v1/otlp/v1/${kind.slice(5)}`, { method: "POST", body: text });
  await other.app.collector.drained();
  expect(await lines(other)).toEqual(exported);
});

test("a server that has no memory for a body asks to come again with 503 [OT-27]", async () => {
  const small = await testApp({ unfinishedBytesMax: "1 MiB" });
  const large = Buffer.alloc(3 * 1024 * 1024, 0x20);
  for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"]) {
    const headers = { "content-type": "application/x-protobuf" };
    const answer = await fetch(small.app.url + path, { method: "POST", body: large, headers });
    expect([path, answer.status, answer.headers.get("retry-after")]).toEqual([path, 503, "1"]);
  }
});

test("spans find their parents on the timeline by OTLP's short ids", async () => {
  const child = { parentSpanId: "0000000000001258", name: "child" };
  const spans = [fixture.someSpan(600, { name: "root" }), fixture.someSpan(601, child)];
  await send("/v1/traces", fixture.toProtobuf("traces", fixture.tracesOf(spans, ofRun("nested"))));
  const found = await ask<{ ancestors: { name: string }[] }>("/runs/nested/spans/by-id/0000000000001259");
  expect(found.ancestors.map(({ name }) => name)).toEqual(["root"]);
  const timeline = JSON.stringify(await ask("/runs/nested/spans"));
  expect([timeline.includes("0000000000001258"), timeline.includes("00000000000012580")]).toEqual([true, false]);
});
