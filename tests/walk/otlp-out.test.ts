// What is stored goes out as OTLP: to files, to another receiver when asked, and to another one all the time.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runInTest } from "#cli/run-cli.testing.ts";
import { openForwarder } from "#server/forward/forward-otlp.ts";
import { createLog } from "#server/log.ts";
import { StoreOutage } from "#store/outage.ts";
import type { Store } from "#store/store.ts";
import * as fixture from "#wire/otlp/fixture.testing.ts";
import { encodeResponse } from "#wire/otlp/reply.ts";
import type { Signal } from "#wire/otlp/schema.ts";
import { suiteApp, type TestApp, testApp } from "../support/app.ts";
import { suiteFolder } from "../support/folder.ts";
import { toFrame } from "../support/frames.ts";
import { freePort } from "../support/free-port.ts";
import { eventually } from "../support/several.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const walk = suiteApp();
const folder = suiteFolder();

const requests: Record<Signal, object> = {
  traces: fixture.tracesOf([fixture.fullSpan, fixture.someSpan(8)]),
  metrics: fixture.metricsOf(fixture.everyMetric),
  logs: fixture.logsOf(fixture.someLogs),
};

async function fill(app: TestApp): Promise<void> {
  for (const [signal, request] of Object.entries(requests))
    await app.post(`/v1/otlp/v1/${signal}`, JSON.stringify(request));
  await app.app.collector.drained();
}

async function sql(app: TestApp, query: string): Promise<unknown[][]> {
  await app.app.collector.drained();
  const { status, body } = await app.post("/api/v1/sql", JSON.stringify({ query }));
  expect([query, status]).toEqual([query, 200]);
  return (body as { rows: unknown[][] }).rows;
}

/** All that OTLP said, whatever it came in. */
async function everything(app: TestApp): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  for (const view of ["otel_spans", "otel_points", "otel_logs", "metrics", "params"])
    rows.push(...(await sql(app, `SELECT * EXCEPT (received_ns) FROM ${view} WHERE run_id = 'run-1' ORDER BY ALL`)));
  return rows;
}

test("an export in JSON and one in protobuf, read into another server, are equal to what came [OT-13] [OT-30]", async () => {
  await fill(walk);
  const all = await everything(walk);
  expect(all.length).toBeGreaterThan(20);
  const names = ["otlp", "otlp_traces", "otlp_metrics", "otlp_logs"];
  const endings = ["otlp.jsonl", "traces.binpb", "metrics.binpb", "logs.binpb"];
  const files = endings.map((ending) => join(folder, `run-1.${ending}`));
  for (const [at, format] of names.entries()) {
    const answer = await fetch(`${walk.app.url}/api/v1/runs/run-1/export?format=${format}`);
    expect([format, answer.status]).toEqual([format, 200]);
    await writeFile(files[at] as string, Buffer.from(await answer.arrayBuffer()));
  }
  for (const read of [files.slice(0, 1), files.slice(1)]) {
    const other = await testApp();
    const checked = await runInTest(["check", ...read]);
    expect([checked.code, checked.out]).toEqual([0, expect.stringContaining("otlp: 3 log, 5 point, 2 span")]);
    const imported = await runInTest(["import", "--server", other.app.url, ...read]);
    expect([imported.code, imported.err]).toEqual([0, ""]);
    expect(await everything(other)).toEqual(all);
  }
});

test("a record with a text that is no UTF-8 goes out with the bytes that came", async () => {
  const named = { ...fixture.someSpan(9), name: "odd-XY" };
  const request = Buffer.from(fixture.toProtobuf("traces", fixture.tracesOf([named])));
  const odd = Buffer.from([0x6f, 0x64, 0x64, 0x2d, 0xff, 0xfe]);
  request.set(odd, request.indexOf("odd-XY"));
  await walk.post("/v1/traces", request, { "content-type": "application/x-protobuf" });
  await walk.app.collector.drained();
  const take = async (format: string) =>
    Buffer.from(await (await fetch(`${walk.app.url}/api/v1/runs/run-1/export?format=${format}`)).arrayBuffer());
  expect((await take("otlp_traces")).includes(odd)).toBe(true);
  const lines = (await take("jsonl")).toString().trim().split("\n");
  const packed = lines.map((line) => (JSON.parse(line) as { base64?: string }).base64 ?? "");
  expect(packed.filter((text) => Buffer.from(text, "base64").includes(odd))).toHaveLength(1);
});

const payload = { run_id: "mixed" };
const frames = Buffer.concat([
  toFrame({ type: "run_start", seq: 1, ts: 1_790_000_000_000_000, wid: "w0", payload }),
  toFrame({
    ...{ type: "metric", seq: 2, ts: 1_790_000_001_000_000, wid: "w0" },
    payload: { run_id: "mixed", key: "loss", value: 0.5, step: 3 },
  }),
  toFrame({
    ...{ type: "log", seq: 3, ts: 1_790_000_002_000_000, wid: "w0" },
    payload: { run_id: "mixed", level: "warning", msg: "slow" },
  }),
]);
const batch = {
  ...{ schema_version: 1, sdk_version: "0.3.0", batch_id: "ab".repeat(16), created_ns: 1, marks: [], snapshots: [] },
  spans: [
    {
      ...{ id: "cd".repeat(16), parent_id: null, name: "epoch", index: 2, start_ns: 1_790_000_000_000_000_000 },
      ...{ end_ns: 1_790_000_001_000_000_000, thread_id: 1, pid: 2, rank: 0, attrs: { lr: 0.1 }, mark_ids: [] },
    },
  ],
};

async function fillMixed(app: TestApp): Promise<void> {
  const octets = { "content-type": "application/octet-stream" };
  expect(await app.post("/v1/xtrack", frames, octets)).toMatchObject({ body: { faults: [] } });
  expect((await app.post("/v1/runs/mixed/traces", JSON.stringify(batch))).status).toBe(202);
  await app.app.collector.drained();
}

/** What came of the mixed run, after it went through OTLP. */
async function expectMixed(app: TestApp): Promise<void> {
  const of = (view: string, columns: string) =>
    sql(app, `SELECT ${columns} FROM ${view} WHERE run_id = 'mixed' ORDER BY ALL`);
  expect(await of("otel_spans", "name, JSONExtractFloat(attributes, 'lr')")).toEqual([["epoch", 0.1]]);
  expect(await of("metrics", "key, step, value, worker")).toEqual([["loss", "3", 0.5, "w0"]]);
  const logs = await of("otel_logs", "level, body, event_name");
  expect(logs).toContainEqual(["warning", "slow", ""]);
  expect(logs.map(([, , event]) => event)).toContain("xtrack.run_start");
}

test("sends runs of any protocol to another receiver [OT-31]", async () => {
  await fillMixed(walk);
  const other = await testApp();
  const pushed = await runInTest(["export", "mixed", "--server", walk.app.url, "--to", other.app.url]);
  expect([pushed.code, pushed.out]).toEqual([0, expect.stringContaining("requests sent")]);
  await expectMixed(other);
  const refused = await runInTest(["export", "mixed", "--server", walk.app.url, "--to", `${walk.app.url}/nowhere`]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("404")]);
});

test("waits for a receiver that is away, and sends when it is there", async () => {
  await fillMixed(walk);
  const receiver = createServer((request, response) => request.resume().on("end", () => response.end()));
  const port = await freePort();
  const to = ["--server", walk.app.url, "--to", `http://127.0.0.1:${port}`];
  const child = spawn(process.execPath, [main, "export", "mixed", ...to], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said.err += chunk;
    if (!receiver.listening) receiver.listen(port, "127.0.0.1");
  });
  const [code] = await once(child, "close");
  receiver.close();
  expect([code, said.out, said.err]).toEqual([
    0,
    expect.stringContaining("requests sent"),
    expect.stringContaining("ECONNREFUSED; trying again in 0.5 s"),
  ]);
});

test("forwards what is stored while the receiver is there, and catches up after it was away or we were [OT-32]", async () => {
  const receiver = await testApp();
  const gate = await openGate(receiver.app.url);
  onTestFinished(() => void gate.server.close());
  const sender = await testApp({ forwardOtlpUrl: gate.url });
  await fill(sender);
  const all = await everything(sender);
  await eventually(async () => (await everything(receiver)).length === all.length);
  expect(await everything(receiver)).toEqual(all);
  gate.isOpen = false;
  await fillMixed(sender);
  await eventually(async () => gate.refused > 0);
  const { body } = await sender.get("/readyz");
  expect(JSON.stringify(body)).toContain("wait to be forwarded");
  await sender.reopen();
  gate.isOpen = true;
  await eventually(async () => (await sql(receiver, "SELECT 1 FROM otel_spans WHERE run_id = 'mixed'")).length > 0);
  await eventually(async () => (await sql(receiver, "SELECT 1 FROM otel_logs WHERE run_id = 'mixed'")).length > 1);
  await expectMixed(receiver);
  expect(await everything(receiver)).toEqual(all);
});

test("tells what a receiver did not take of what it was sent, and sends nothing of it again", async () => {
  await fillMixed(walk);
  const asked: string[] = [];
  const receiver = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = encodeResponse("json", "logs", request.url === "/v1/logs" ? 2 : 0, "no logs of strangers");
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer));
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const sender = await testApp({ forwardOtlpUrl: url });
  try {
    const { code, out, err } = await runInTest(["export", "mixed", "--server", walk.app.url, "--to", url]);
    const sent = asked.length;
    expect([code, out]).toEqual([1, expect.stringContaining(`${sent} requests sent`)]);
    expect(err).toContain(`${url} did not take 2 log records: no logs of strangers`);
    expect(err).toContain("2 records of what was sent were rejected");
    expect(asked.toSorted()).toEqual(["/v1/logs", "/v1/metrics", "/v1/traces"]);
    await fillMixed(sender);
    await eventually(async () =>
      JSON.stringify((await sender.get("/readyz")).body).includes("records were rejected where they were forwarded to"),
    );
  } finally {
    receiver.close();
  }
});

test("forwards what was stored while the store did not answer", async () => {
  const [sender, receiver] = [await testApp(), await testApp()];
  const { collector } = sender.app;
  let isAway = false;
  const store = Object.assign(Object.create(collector.store) as Store, {
    stream(...given: Parameters<Store["stream"]>) {
      if (isAway) throw new StoreOutage("engine_down", "the engine is away");
      return collector.store.stream(...given);
    },
  });
  const { id, writer } = collector;
  const forwarder = await openForwarder({
    collector: { id, store, writer, onStored: (listener) => collector.onStored(listener) },
    ...{
      dataDir: sender.dataDir,
      receiver: { url: receiver.app.url, headers: {} },
      log: createLog({ level: "silent", format: "json" }),
    },
  });
  onTestFinished(() => forwarder.close());
  await fill(sender);
  await eventually(async () => forwarder.position === writer.stored);
  isAway = true;
  await fillMixed(sender);
  await eventually(async () => forwarder.sentences().join().includes("the engine is away"));
  isAway = false;
  await eventually(async () => forwarder.position === writer.stored);
  await receiver.app.collector.drained();
  await expectMixed(receiver);
});

/** Something between the two that can be closed. */
async function openGate(target: string): Promise<{ url: string; server: Server; isOpen: boolean; refused: number }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (!gate.isOpen) {
        gate.refused++;
        response.writeHead(503, { "retry-after": "0" }).end();
        return;
      }
      const headers = { "content-type": "application/x-protobuf", "content-encoding": "gzip" };
      void fetch(`${target}${request.url}`, { method: "POST", body: Buffer.concat(chunks), headers }).then((answer) =>
        response.writeHead(answer.status).end(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const gate = { url: `http://127.0.0.1:${port}`, server, isOpen: true, refused: 0 };
  return gate;
}
