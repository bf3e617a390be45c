// Keys come in by every door and stay in memory: no log line, answer, export, backup or file of the data folder has one.

import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { readConfig } from "#config/read-config.ts";
import { type App, openApp } from "#server/app/app.ts";
import { createLog } from "#server/log.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { encode } from "../clients/xtrack-document-client.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { makeMigratedFolder } from "../support/migrated-folder.ts";

const adminKey = "the-admin-key-that-settings-give-0123456789";
const json = { "content-type": "application/json" };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

let dataDir: string;
let app: App;
let logged = "";
/** What must be found nowhere, by what it is. */
const secrets = new Map<string, string>([["the admin's key", adminKey]]);

beforeAll(async () => {
  dataDir = await makeMigratedFolder();
  const places = { httpAddress: "127.0.0.1:0", xtrackAddress: "127.0.0.1:0", otlpGrpcAddress: "127.0.0.1:0" };
  const flags = { dataDir, ...places, adminKey, authLoopback: "open" };
  const stream = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  app = await openApp(readConfig({ flags, env: {} }), createLog({ level: "debug", format: "json", stream }));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function send(path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<string> {
  const answer = await fetch(app.url + path, { method: "POST", ...init });
  return answer.text();
}

const read = (path: string) => send(path, { method: "GET", headers: bearer(adminKey) });

/** A key that somebody mistyped is nearly one. */
const mistyped = (key: string) => `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;

async function sendByHttp(key: string): Promise<void> {
  const spans = toBatchText("told", [{ id: "told", parent: null, name: "step", at: 1 }]);
  for (const headers of [bearer(key), bearer(mistyped(key)), { authorization: `Basic ${btoa(`user:${key}`)}` }]) {
    await send("/v1/runs/told/traces?wait=1", { headers: { ...json, ...headers }, body: spans });
    await send("/v1/traces", { headers: { ...json, ...headers }, body: "no batch" });
    await send("/v1/xtrack", { headers, body: "no frames" });
    await send("/api/v1/sql", { headers: { ...json, ...headers }, body: '{"query":"SELECT nosuch"}' });
    await send("/api/v1/runs/told/commands", { headers: { ...json, ...headers }, body: '{"type":"pause"}' });
  }
  for (const given of [key, mistyped(key)]) {
    const body = JSON.stringify({ key: given });
    const answer = await fetch(`${app.url}/api/v1/session`, { method: "POST", headers: json, body });
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    if (cookie !== "") secrets.set("a login", cookie.slice(cookie.indexOf("=") + 1));
    if (cookie !== "") await send("/api/v1/runs", { method: "GET", headers: { cookie } });
  }
}

/** As text and as a frame, right and mistyped, before the events. */
async function sendByXtrack(key: string): Promise<void> {
  const port = Number(/:(\d+)$/.exec(app.xtrack[0] ?? "")?.[1]);
  const event = encodeFrame("metric", { seq: 1, ts: 1, wid: "w" }, { run_id: "told-by-worker", key: "loss", value: 1 });
  for (const given of [key, mistyped(key)]) {
    const frame = encode({ v: 1, t: "auth", m: { seq: 0, ts: 0 }, p: { key: given } });
    for (const first of [Buffer.from(`${given}\n`), frame]) {
      const socket = connect(port, "127.0.0.1").resume();
      socket.end(Buffer.concat([first, event]));
      await once(socket, "close");
    }
    const socket = new WebSocket(`${app.url.replace("http", "ws")}/v1/xtrack`);
    await once(socket, "open");
    socket.send(given);
    socket.send(event);
    socket.close();
    await once(socket, "close");
  }
}

async function sendByGrpc(key: string): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${app.otlp.grpc?.port}`);
  const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
  for (const given of [key, mistyped(key)]) {
    const call = session.request({ ":method": "POST", ":path": path, ...bearer(given) });
    call.resume().end(Buffer.from([0, 0, 0, 0, 2, 0xff, 0xff]));
    await once(call, "close");
  }
  session.close();
}

function findIn(text: string): string[] {
  return [...secrets].flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));
}

test("no key is found in logs, answers, exports, backups, faults or the data folder", async () => {
  const made = await send("/api/v1/keys", {
    headers: { ...json, ...bearer(adminKey) },
    body: '{"name":"told","scopes":["ingest","read"]}',
  });
  const { key } = JSON.parse(made) as { key: string };
  secrets.set("a key", key).set("a mistyped key", mistyped(key));
  await sendByHttp(key);
  await sendByXtrack(key);
  await sendByGrpc(key);
  await app.collector.drained();

  const faults = JSON.parse(await read("/api/v1/faults?limit=1000")) as { faults: { id: string }[] };
  expect(faults.faults.length).toBeGreaterThan(0);
  const paths = [
    ..."/api/v1/faults /api/v1/keys /api/v1/audit /api/v1/health /readyz /metrics /api/v1/session".split(" "),
    ..."/api/v1/runs /api/v1/runs/told /api/v1/runs/told/export /api/v1/export /api/v1/backup".split(" "),
    ...faults.faults.map(({ id }) => `/api/v1/faults/${encodeURIComponent(id)}/raw`),
  ];
  for (const path of paths) expect([path, findIn(await read(path))]).toEqual([path, []]);
  await app.close();
  expect(logged).toContain("/v1/runs/:run/traces");
  expect(findIn(logged)).toEqual([]);

  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(20);
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    expect([path, findIn(readFileSync(path, "latin1"))]).toEqual([path, []]);
  }
});
