// OTLP over gRPC: real HTTP/2 calls to the server's own port for it.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import * as fixture from "#wire/otlp/fixture.testing.ts";
import { suiteApp, testApp } from "../support/app.ts";
import { eventually } from "../support/several.ts";

const walk = suiteApp({
  otlpGrpcAddress: "127.0.0.1:0",
  otlpHttpAddress: "127.0.0.1:0",
  bodyBytesMax: "200 KiB",
  authLoopback: "key",
});

const service = (name: string) => `/opentelemetry.proto.collector.${name}/Export`;

interface Answer {
  readonly status: string | undefined;
  readonly message: string | undefined;
  readonly details: string | undefined;
  readonly body: Buffer;
}

function call(
  path: string,
  message: Uint8Array,
  headers: Record<string, string> = {},
  flag = 0,
  at = walk,
): Promise<Answer> {
  const session = connect(`http://127.0.0.1:${at.app.otlp.grpc?.port}`);
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(message.length, 1);
  return new Promise((resolve, reject) => {
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      ...headers,
    });
    const chunks: Buffer[] = [];
    let ends: Record<string, unknown> = {};
    stream.on("response", (got) => {
      ends = { ...ends, ...got };
    });
    stream.on("trailers", (got) => {
      ends = { ...ends, ...got };
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.once("error", reject);
    stream.once("close", () => {
      session.close();
      const word = (name: string) => ends[name] as string | undefined;
      const [status, text] = [word("grpc-status"), word("grpc-message")];
      resolve({ status, message: text, details: word("grpc-status-details-bin"), body: Buffer.concat(chunks) });
    });
    stream.end(Buffer.concat([head, message]));
  });
}

async function count(query: string): Promise<unknown> {
  await walk.app.collector.drained();
  const { body } = await walk.post("/api/v1/sql", JSON.stringify({ query }));
  return (body as { rows: unknown[][] }).rows[0]?.[0];
}

const ok = { status: "0", body: Buffer.from([0, 0, 0, 0, 0]) };

test("takes Export of all three services, plain and gzipped, under the run that the metadata names [OT-28]", async () => {
  const headers = { "x-tributary-run": "by-metadata" };
  const traces = fixture.toProtobuf("traces", fixture.tracesOf([fixture.fullSpan]));
  expect(await call(service("trace.v1.TraceService"), traces, headers)).toMatchObject(ok);
  const packed = { ...headers, "grpc-encoding": "gzip" };
  expect(await call(service("trace.v1.TraceService"), gzipSync(traces), packed, 1)).toMatchObject(ok);
  const metrics = fixture.toProtobuf("metrics", fixture.metricsOf(fixture.everyMetric));
  expect(await call(service("metrics.v1.MetricsService"), metrics, headers)).toMatchObject(ok);
  const logs = fixture.toProtobuf("logs", fixture.logsOf(fixture.someLogs));
  expect(await call(service("logs.v1.LogsService"), logs, headers)).toMatchObject(ok);
  expect(await call(service("logs.v1.LogsService"), new Uint8Array(0))).toMatchObject(ok);
  const of = (table: string) => count(`SELECT count() FROM ${table} WHERE run_id = 'by-metadata'`);
  expect([await of("spans"), await of("otel_points"), await of("logs")]).toEqual(["1", "5", "3"]);
});

test("says what is wrong by a status, and goes on [OT-29]", async () => {
  const spans = [fixture.someSpan(1, { spanId: "ab" })];
  const partial = await call(service("trace.v1.TraceService"), fixture.toProtobuf("traces", fixture.tracesOf(spans)));
  expect([partial.status, partial.body.toString().includes("no span id")]).toEqual(["0", true]);
  const broken = await call(service("trace.v1.TraceService"), Buffer.from("no protobuf"));
  expect(broken).toMatchObject({ status: "3", message: expect.stringContaining("no protobuf of an OTLP request") });
  expect(await call("/some.other.Service/Export", new Uint8Array(0))).toMatchObject({ status: "12" });
  expect(await call(service("logs.v1.LogsService"), Buffer.alloc(300 * 1024))).toMatchObject({ status: "8" });
  const zipped = { "grpc-encoding": "gzip" };
  expect(await call(service("logs.v1.LogsService"), gzipSync(Buffer.alloc(400_000)), zipped, 1)).toMatchObject({
    status: "8",
  });
  expect(await call(service("logs.v1.LogsService"), Buffer.from("x"), zipped, 1)).toMatchObject({ status: "3" });
  expect(await call(service("logs.v1.LogsService"), new Uint8Array(0))).toMatchObject(ok);
});

test("takes no message of a key that is revoked while it comes, and says so at once", async () => {
  const owner = { authorization: `Bearer ${await readFile(join(walk.dataDir, "owner-secret"), "utf8")}`.trim() };
  const asked = { method: "POST", headers: { ...owner, "content-type": "application/json" } };
  const body = JSON.stringify({ name: "exporter", scopes: ["ingest"] });
  const made = await fetch(`${walk.app.url}/api/v1/keys`, { ...asked, body });
  const { id, key } = (await made.json()) as { id: string; key: string };
  const session = connect(`http://127.0.0.1:${walk.app.otlp.grpc?.port}`);
  await once(session, "connect");
  const stream = session.request({
    ...{ ":method": "POST", ":path": service("trace.v1.TraceService") },
    ...{ "content-type": "application/grpc", authorization: `Bearer ${key}` },
  });
  const message = fixture.toProtobuf("traces", fixture.tracesOf([fixture.someSpan(401)], { "service.name": "late" }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.write(Buffer.concat([head, message]));
  // What follows is read after the head of the call, when the key was good.
  await new Promise<void>((resolve) => session.ping(() => resolve()));
  const answered = once(stream, "response");
  await fetch(`${walk.app.url}/api/v1/keys/${id}`, { method: "DELETE", headers: owner });
  const [answer] = (await answered) as [Record<string, string>];
  expect([answer["grpc-status"], answer["grpc-message"]]).toEqual(["16", "The key was revoked during this request."]);
  stream.on("error", () => undefined).end();
  session.close();
  await once(session, "close");
  const used = await fetch(`${walk.app.url}/api/v1/sql`, {
    ...asked,
    body: JSON.stringify({ query: "SELECT count() FROM spans WHERE run_id = 'late'" }),
  });
  expect(await used.json()).toMatchObject({ rows: [["0"]] });
});

test("takes what exporters post on a port of its own, and nothing else there [OT-01]", async () => {
  const base = `http://127.0.0.1:${walk.app.otlp.http?.port}`;
  const body = JSON.stringify(fixture.tracesOf([fixture.someSpan(400)], { "service.name": "by-4318" }));
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${base}/v1/traces`, { method: "POST", body, headers });
  expect([answer.status, await answer.json()]).toEqual([200, {}]);
  expect((await fetch(`${base}/api/v1/runs`)).status).toBe(404);
  expect(await count("SELECT count() FROM spans WHERE run_id = 'by-4318'")).toBe("1");
});

test("a port that is taken is left alone, and the server goes on [OT-28]", async () => {
  const holder = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void holder.close());
  await new Promise((resolve) => holder.once("listening", resolve));
  const { port } = holder.address() as { port: number };
  const other = await testApp({ otlpGrpcAddress: `127.0.0.1:${port}` });
  expect(other.app.otlp.grpc).toBeNull();
  expect((await other.get("/healthz")).status).toBe(200);
});

test("a call that drips is ended, and what it held is given back", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const session = connect(`http://127.0.0.1:${walk.app.otlp.grpc?.port}`);
  try {
    const stream = session.request({ ":method": "POST", ":path": service("trace.v1.TraceService") });
    stream.on("error", () => undefined);
    const ended = new Promise((resolve) => stream.once("close", resolve));
    stream.write(Buffer.alloc(100 * 1024));
    // The server holds the bytes of a call that is on its way, so it has begun to read this one.
    await eventually(async () => (await heldBytes()) > 0, "the call's first bytes");
    vi.advanceTimersByTime(10 * 60_000);
    await ended;
    await eventually(async () => (await heldBytes()) === 0, "the end of what the call held");
  } finally {
    session.destroy();
    vi.useRealTimers();
  }
});

async function heldBytes(): Promise<number> {
  const text = await (await fetch(`${walk.app.url}/metrics`)).text();
  return Number(/^tributary_unfinished_bytes (\d+)/m.exec(text)?.[1] ?? 0);
}

const passedOn: readonly Record<string, string>[] = [
  { forwarded: "for=203.0.113.9" },
  { via: "1.1 proxy" },
  { "x-real-ip": "203.0.113.9" },
  { "x-forwarded-for": "127.0.0.1" },
];

test("is open to who comes from this machine, and not to whom a proxy passes on", async () => {
  const open = await testApp({ otlpGrpcAddress: "127.0.0.1:0", authLoopback: "open" });
  await open.post("/api/v1/keys", JSON.stringify({ name: "any", scopes: ["ingest"] }));
  const path = service("trace.v1.TraceService");
  expect(await call(path, new Uint8Array(0), {}, 0, open)).toMatchObject(ok);
  for (const headers of passedOn)
    expect([headers, await call(path, new Uint8Array(0), headers, 0, open)]).toMatchObject([headers, { status: "16" }]);
});

// The last test: from then on everybody needs the key.
test("wants a key where the server wants one [OT-29]", async () => {
  const { body } = await walk.post("/api/v1/keys", JSON.stringify({ name: "exporter", scopes: ["ingest"] }));
  const { key } = body as { key: string };
  const path = service("trace.v1.TraceService");
  expect(await call(path, new Uint8Array(0))).toMatchObject({ status: "16" });
  expect(await call(path, new Uint8Array(0), { authorization: "Bearer wrong" })).toMatchObject({ status: "16" });
  expect(await call(path, new Uint8Array(0), { authorization: `Bearer ${key}` })).toMatchObject(ok);
});
