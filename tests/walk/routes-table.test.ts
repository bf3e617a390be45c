// Who may ask for what, row by row. The table stands here once more on purpose: a new route, or one that is opened to
// others, has to be written down in this file before the tests pass.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { createTestApp, type TestApp } from "../support/app.ts";

const scopes = ["ingest", "read", "control", "admin"] as const;
type Scope = (typeof scopes)[number];

type RouteScope = Scope | "open" | "server";

/** `server`: for admins of the server's own workspace, since these tell of all workspaces. */
const table: Readonly<Record<RouteScope, string>> = {
  open: `
    GET / · GET /* · GET /healthz · GET /readyz · GET /metrics · GET /openapi.json · GET /reference
    GET /api/v1/session · POST /api/v1/session · DELETE /api/v1/session`,
  ingest: `
    POST /v1/traces · POST /api/traces · POST /v1/runs/:run/traces
    PUT /v1/traces/blobs/* · PUT /api/traces/blobs/* · PUT /v1/runs/:run/traces/blobs/*
    POST /v1/trace-stream · POST /v1/xtrack · POST /v1/runs/:run/output · POST /v1/runs/:run/wrapper
    POST /v1/metrics · POST /v1/logs
    POST /v1/otlp/v1/traces · POST /v1/otlp/v1/metrics · POST /v1/otlp/v1/logs
    PUT /v1/runs/:run/artifacts/:name`,
  read: `
    GET /api/v1/runs · GET /api/v1/fields · GET /api/v1/export · GET /api/v1/compare · POST /api/v1/series
    GET /api/v1/runs/:id · GET /api/v1/runs/:id/verdicts · GET /api/v1/runs/:id/post-mortem
    GET /api/v1/runs/:id/alerts · POST /api/v1/runs/:id/gate
    GET /api/v1/runs/:id/metrics · GET /api/v1/runs/:id/metrics/:key
    GET /api/v1/runs/:id/spans · GET /api/v1/runs/:id/spans/summary · GET /api/v1/runs/:id/spans/flame
    GET /api/v1/runs/:id/spans/by-id/:span
    GET /api/v1/runs/:id/snapshots · GET /api/v1/runs/:id/snapshots/:tensor
    GET /api/v1/runs/:id/snapshots/:tensor/values
    GET /api/v1/runs/:id/logs · GET /api/v1/runs/:id/params · GET /api/v1/runs/:id/checkpoints
    GET /api/v1/runs/:id/artifacts · GET /api/v1/runs/:id/artifacts/:name
    GET /api/v1/runs/:id/events · GET /api/v1/runs/:id/events/:event
    GET /api/v1/runs/:id/gaps · GET /api/v1/runs/:id/faults · GET /api/v1/runs/:id/graph
    GET /api/v1/runs/:id/completeness · GET /api/v1/runs/:id/commands · GET /api/v1/runs/:id/export
    GET /api/v1/completeness · GET /api/v1/launches · GET /api/v1/launches/:id/:attempt
    GET /api/v1/faults · GET /api/v1/faults/:fault/raw
    GET /api/v1/rules · POST /api/v1/rules/test · GET /api/v1/alerts
    GET /api/v1/live · GET /api/v1/health · GET /api/v1/retention
    GET /api/v1/views · PUT /api/v1/views/:page/:name · DELETE /api/v1/views/:page/:name
    GET /v1/traces/blobs/* · POST /mcp · GET /mcp · DELETE /mcp`,
  control: `
    PATCH /api/v1/runs/:id · POST /api/v1/runs/:id/join · POST /api/v1/runs/:id/part
    POST /api/v1/runs/:id/history · POST /api/v1/runs/:id/commands · DELETE /api/v1/runs/:id/commands/:command
    POST /api/v1/rules/:rule/silence`,
  admin: `
    POST /api/v1/runs/delete · DELETE /api/v1/runs/:id
    PUT /api/v1/rules/:rule · DELETE /api/v1/rules/:rule · POST /api/v1/rules/:rule/arm
    GET /api/v1/keys · POST /api/v1/keys · DELETE /api/v1/keys/:key · PUT /api/v1/retention
    GET /api/v1/audit`,
  server: `
    POST /api/v1/sql · GET /api/v1/sql/schema
    GET /api/v1/backup · GET /api/v1/set-aside · POST /api/v1/set-aside/retry`,
};

const rows = Object.entries(table).flatMap(([scope, text]) =>
  text.split(/·|\n/).flatMap((route) => {
    const [method, path] = route.trim().split(" ");
    return method && path ? [{ scope: scope as RouteScope, method, path }] : [];
  }),
);
const changing = rows.filter(({ method, path }) => method !== "GET" || path === "/api/v1/backup");
/** Balancers and monitors call this server whatever they like. */
const anyHost = new Set(["/healthz", "/readyz", "/metrics"]);

let walk: TestApp;
const served: string[] = [];
const secrets = new Map<Scope, string>();

function listen(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) if (one !== "HEAD" && one !== "OPTIONS") served.push(`${one} ${url}`);
  });
}

beforeAll(async () => {
  subscribe("fastify.initialization", listen);
  walk = await createTestApp({ authLoopback: "key", otlpGrpcAddress: "127.0.0.1:0", otlpHttpAddress: "127.0.0.1:0" });
  unsubscribe("fastify.initialization", listen);
  // The first one is made while nobody needs a key.
  for (const scope of ["admin", "ingest", "read", "control"] as const) secrets.set(scope, await createKey(scope));
});
afterAll(() => walk.remove());

async function createKey(scope: Scope): Promise<string> {
  const admin = secrets.get("admin");
  const headers = { "content-type": "application/json", ...(admin === undefined ? {} : bearer(admin)) };
  const { status, body } = await walk.post("/api/v1/keys", JSON.stringify({ name: scope, scopes: [scope] }), headers);
  expect(status).toBeLessThan(300);
  return (body as { key: string }).key;
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

interface Answer {
  readonly status: number;
  readonly code: string;
}

/** The status, and the code of a refusal. Of an answer that goes on, no more than its head is read. */
async function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  port = walk.app.url,
): Promise<Answer> {
  const url = port + path.replace(/:\w+|\*/g, "x");
  const stop = new AbortController();
  const answer = await fetch(url, { method, headers, signal: stop.signal });
  const isRefusal = answer.status === 401 || answer.status === 403;
  const code = isRefusal ? ((await answer.json()) as { code: string }).code : "";
  stop.abort();
  return { status: answer.status, code };
}

test("the table has every route that is served, and no other", () => {
  const known = rows.map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(served)].filter((route) => !known.includes(route))).toEqual([]);
  // Without a built page there is nothing to serve there.
  const missing = known.filter((route) => !served.includes(route) && route !== "GET /" && route !== "GET /*");
  expect(missing).toEqual([]);
});

const closed = rows.filter(({ scope }) => scope !== "open");

test.each(closed)("$method $path is closed to who has no key, a wrong one, or one without $scope", async (row) => {
  const { method, path, scope } = row;
  expect(await ask(method, path, {})).toEqual({ status: 401, code: "key_missing" });
  expect(await ask(method, path, bearer("trib_wrong"))).toEqual({ status: 401, code: "key_wrong" });
  for (const other of scopes) {
    if (other === scope || other === "admin") continue;
    const answer = await ask(method, path, bearer(secrets.get(other) as string));
    expect([other, answer]).toEqual([other, { status: 403, code: "scope_missing" }]);
  }
});

test("each route is open to its scope and to admin", async () => {
  for (const { method, path, scope } of rows) {
    if (scope === "open") continue;
    for (const held of new Set([scope === "server" ? "admin" : scope, "admin" as const])) {
      const { status } = await ask(method, path, bearer(secrets.get(held) as string));
      expect([method, path, held, status === 401 || status === 403]).toEqual([method, path, held, false]);
    }
  }
});

test("what tells of all workspaces is closed to an admin of another one, and everything else is not", async () => {
  const body = JSON.stringify({ name: "theirs", scopes: ["admin"], workspace: "team-a" });
  // Only who is on the machine makes keys for other workspaces.
  const owner = readFileSync(join(walk.dataDir, "owner-secret"), "utf8").trim();
  const made = await walk.post("/api/v1/keys", body, { "content-type": "application/json", ...bearer(owner) });
  const { key } = made.body as { key: string };
  for (const { method, path, scope } of closed) {
    const { status, code } = await ask(method, path, bearer(key));
    const isRefused = status === 401 || status === 403;
    const expected = scope === "server" ? [true, "workspace_foreign"] : [false, ""];
    expect([method, path, isRefused, code]).toEqual([method, path, ...expected]);
  }
  const sql = { query: "SELECT 1" };
  const headers = { "content-type": "application/json", ...bearer(key) };
  expect((await walk.post("/api/v1/sql", JSON.stringify(sql), headers)).status).toBe(403);
});

test.each(changing)("$method $path is closed to pages of other sites, whatever key they have", async (row) => {
  const headers = { ...bearer(secrets.get("admin") as string), origin: "https://evil.example" };
  expect(await ask(row.method, row.path, headers)).toEqual({ status: 403, code: "origin_not_allowed" });
});

test("no route answers to a foreign host name without a key, but those for monitors", async () => {
  const port = Number(new URL(walk.app.url).port);
  for (const { method, path } of rows) {
    const socket = connect(port, "127.0.0.1");
    const target = path.replace(/:\w+|\*/g, "x");
    socket.write(
      `${method} ${target} HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head.toString("latin1"))?.[1]);
    expect([method, path, status === 403]).toEqual([method, path, !anyHost.has(path)]);
  }
});

test("a body that is no JSON is refused by every route of the API that takes one", async () => {
  const takers = rows.filter(
    ({ method, path }) => method !== "GET" && method !== "DELETE" && path.startsWith("/api/v1/"),
  );
  const headers = { ...bearer(secrets.get("admin") as string), "content-type": "text/plain" };
  for (const { method, path } of takers) {
    const answer = await fetch(walk.app.url + path.replace(/:\w+|\*/g, "x"), { method, headers, body: "{}" });
    await answer.arrayBuffer();
    expect([method, path, answer.status]).toEqual([method, path, 415]);
  }
});

test("the other ports want a key too", async () => {
  const web = new WebSocket(`${walk.app.url.replace("http", "ws")}/v1/xtrack`);
  const [, refused] = (await once(web, "unexpected-response")) as [unknown, { statusCode: number }];
  expect(refused.statusCode).toBe(401);

  const tcp = connect(Number(/:(\d+)$/.exec(walk.app.xtrack[0] ?? "")?.[1]), "127.0.0.1");
  // XTrack has no word for no, and a worker must not fail: what a stranger sends is dropped.
  tcp
    .resume()
    .end(encodeFrame("metric", { seq: 1, ts: 1, wid: "w0" }, { run_id: "stranger", key: "k", value: 1, step: 1 }));
  await once(tcp, "close");

  const grpc = connectHttp2(`http://127.0.0.1:${walk.app.otlp.grpc?.port}`);
  const call = grpc.request({
    ":method": "POST",
    ":path": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "content-type": "application/grpc",
    te: "trailers",
  });
  call.end(Buffer.alloc(5));
  const told = Promise.withResolvers<unknown>();
  call.on("response", (headers) => headers["grpc-status"] !== undefined && told.resolve(headers["grpc-status"]));
  call.on("trailers", (headers) => told.resolve(headers["grpc-status"]));
  call.resume();
  expect(String(await told.promise)).toBe("16");
  grpc.destroy();

  const port = `http://127.0.0.1:${walk.app.otlp.http?.port}`;
  for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"])
    expect(await ask("POST", path, {}, port)).toMatchObject({ status: 401 });
  const runs = await fetch(`${walk.app.url}/api/v1/runs`, { headers: bearer(secrets.get("read") as string) });
  const ids = ((await runs.json()) as { runs: { id: string }[] }).runs.map(({ id }) => id);
  expect(ids).not.toContain("stranger");
});
