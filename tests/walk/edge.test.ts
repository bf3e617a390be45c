// What a peer may do at the edge of a running server, and what it may not.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { SettingName } from "#config/settings.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { toFrame } from "../support/frames.ts";
import { sized } from "../support/sized.ts";

/** A server of one test, and the one of all that need no settings. */
let own: TestApp | undefined;
let usual: TestApp | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await own?.remove();
  own = undefined;
});
afterAll(() => usual?.remove());

async function start(flags?: Partial<Record<SettingName, string>>): Promise<TestApp> {
  if (flags === undefined) {
    usual ??= await createTestApp();
    return usual;
  }
  own = await createTestApp(flags);
  return own;
}

function xtrackPort(walk: TestApp): number {
  return Number(walk.app.xtrack[0]?.split(":").at(-1));
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

/** Calls back with each frame that the server sends. */
async function waitForAck(socket: Socket, seq: number): Promise<{ status: string; error: string | null }> {
  let held = Buffer.alloc(0);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    held = Buffer.concat([held, chunk as Buffer]);
    while (held.length >= 4 && held.length >= 4 + held.readUInt32BE(0)) {
      const end = 4 + held.readUInt32BE(0);
      const { p } = JSON.parse(held.subarray(4, end).toString()) as { p: { seq: number; status: string; error: null } };
      held = held.subarray(end);
      if (p.seq === seq) return p;
    }
  }
  throw new Error("the connection ended before the ack");
}

const ts = 1_700_000_000_000_000;
const startOf = (run: string) => toFrame({ type: "run_start", seq: 1, ts, payload: { run_id: run, accepts: ["ack"] } });
const metricOf = (run: string, seq: number) =>
  toFrame({ type: "metric", seq, ts: ts + seq, payload: { run_id: run, key: "loss", value: 1, step: seq } });

it("takes frames of many megabytes on a connection that waits for acks, and skips one beyond the limit", async () => {
  const walk = await start({ frameBytesMax: "24 MiB" });
  const socket = await open(xtrackPort(walk));
  const value = "x".repeat(20 * 1024 * 1024);
  socket.write(startOf("large"));
  socket.write(toFrame({ type: "param", seq: 2, ts, payload: { run_id: "large", key: "vocab", value } }));
  socket.write(metricOf("large", 3));
  expect(await waitForAck(socket, 3)).toMatchObject({ status: "ok" });
  const beyond = "x".repeat(25 * 1024 * 1024);
  socket.write(toFrame({ type: "param", seq: 4, ts, payload: { run_id: "large", key: "too much", value: beyond } }));
  socket.write(metricOf("large", 5));
  expect(await waitForAck(socket, 5)).toMatchObject({ status: "ok" });
  await walk.get("/readyz?drained=1");
  expect(JSON.stringify((await walk.get("/api/v1/faults")).body)).toContain("xtrack_frame_too_large");
});

it("takes an event of very many metrics over a connection, and goes on", async () => {
  const walk = await start();
  const socket = await open(xtrackPort(walk));
  const metrics = Object.fromEntries(Array.from({ length: sized(40_000, 200_000) }, (_, at) => [`m${at}`, at]));
  socket.write(startOf("wide"));
  socket.write(toFrame({ type: "metric_batch", seq: 2, ts, payload: { run_id: "wide", metrics, step: 1 } }));
  expect(await waitForAck(socket, 2)).toMatchObject({ status: "ok" });
  socket.write(metricOf("wide", 3));
  expect(await waitForAck(socket, 3)).toMatchObject({ status: "ok" });
});

it("ends the open streams and connections of a key that is revoked", async () => {
  // The WebSocket says nothing, and must not have to wait for the end of others that say nothing.
  const walk = await start({ firstFrameTimeoutMs: "1h" });
  const make = async (scope: string) => {
    const { body } = await walk.post("/api/v1/keys", JSON.stringify({ name: scope, scopes: [scope] }));
    return body as { id: string; key: string };
  };
  const [ingest, read] = [await make("ingest"), await make("read")];
  const worker = await open(xtrackPort(walk));
  worker.write(`${ingest.key}\n`);
  worker.write(startOf("revoked"));
  expect(await waitForAck(worker, 1)).toMatchObject({ status: "ok" });
  const headers = { authorization: `Bearer ${read.key}` };
  const live = await fetch(`${walk.app.url}/api/v1/live`, { headers });
  expect(live.status).toBe(200);
  const browser = new WebSocket(`${walk.app.url.replace("http", "ws")}/v1/xtrack`, {
    headers: { authorization: `Bearer ${ingest.key}` },
  });
  await once(browser, "open");
  worker.on("error", () => undefined).resume();
  const closed = Promise.all([once(worker, "close"), once(browser, "close")]);
  for (const { id } of [ingest, read]) await fetch(`${walk.app.url}/api/v1/keys/${id}`, { method: "DELETE" });
  await closed;
  for await (const _ of live.body ?? []) {
    // The stream ends by itself; until then it may say that it lives.
  }
});

it("tells people of XTrack connections whose key is wrong or missing", async () => {
  const walk = await start({ authLoopback: "key", adminKey: "an-admin-key-of-at-least-32-characters" });
  for (const first of ["wrong key\n", ""]) {
    const socket = await open(xtrackPort(walk));
    socket.end(Buffer.concat([Buffer.from(first), startOf("nobody"), metricOf("nobody", 2)]));
    socket.resume();
    await once(socket, "close");
  }
  const { degraded } = (await walk.get("/readyz")).body as { degraded: string[] };
  expect(degraded).toEqual([expect.stringContaining("key that is not known"), expect.stringContaining("sent no key")]);
  const metrics = await (await fetch(`${walk.app.url}/metrics`)).text();
  expect(metrics).toContain('tributary_requests_refused_total{reason="xtrack_key_wrong"} 1');
  expect(metrics).toContain('tributary_requests_refused_total{reason="xtrack_key_missing"} 1');
});

it("refuses large bodies while others that are still arriving take all the room, and never small ones", async () => {
  const walk = await start({ unfinishedBytesMax: "1 MiB" });
  const { port } = new URL(walk.app.url);
  const slow = await open(Number(port));
  const head = ["POST /v1/trace-stream HTTP/1.1", "Host: localhost", "Content-Length: 2000000", "", ""].join("\r\n");
  slow.write(head);
  slow.write(Buffer.alloc(900_000, 0x20));
  const send = async (bytes: number) => walk.post("/v1/trace-stream", Buffer.alloc(bytes, 0x20));
  const gauge = async () => (await fetch(`${walk.app.url}/metrics`)).text();
  await expect.poll(gauge, { timeout: 20_000 }).toContain("tributary_unfinished_bytes 900000");
  expect((await send(300_000)).body).toMatchObject({ code: "busy", message: expect.stringContaining("arriving") });
  expect((await send(50_000)).status).toBe(202);
  slow.destroy();
  await expect.poll(async () => (await send(300_000)).status, { timeout: 20_000 }).toBe(202);
});

it("closes a connection whose frame finds no room among those that are arriving", async () => {
  const walk = await start({ unfinishedBytesMax: "1 MiB" });
  const socket = await open(xtrackPort(walk));
  socket.resume();
  socket.on("error", () => undefined);
  const large = toFrame({
    type: "param",
    seq: 2,
    ts,
    payload: { run_id: "r", key: "k", value: "x".repeat(4_000_000) },
  });
  socket.write(startOf("r"));
  socket.write(large.subarray(0, 3_000_000));
  await new Promise((resolve) => socket.once("close", resolve));
  const { degraded } = (await walk.get("/readyz")).body as { degraded: string[] };
  expect(degraded).toEqual([expect.stringContaining("limits.unfinished")]);
});

it("confirms a command by the answer of a worker that reconnected and names no run", async () => {
  const walk = await start();
  const accepts = { run_id: "steered", accepts: ["ack", "command"] };
  const first = await open(xtrackPort(walk));
  first.write(toFrame({ type: "run_start", seq: 1, ts, payload: accepts }));
  expect(await waitForAck(first, 1)).toMatchObject({ status: "ok" });
  await walk.get("/readyz?drained=1");
  const { body } = await walk.post("/api/v1/runs/steered/commands", JSON.stringify({ type: "pause" }));
  const { id: cmdId } = body as { id: string };
  expect(cmdId).toMatch(/./);
  const state = async () => {
    const { commands } = (await walk.get("/api/v1/runs/steered/commands")).body as { commands: { state: string }[] };
    return commands[0]?.state;
  };
  await expect.poll(state, { timeout: 20_000 }).toBe("delivered");
  first.destroy();
  const second = await open(xtrackPort(walk));
  second.write(toFrame({ type: "ack", seq: 1, ts, payload: { cmd_id: cmdId, status: "ok" } }));
  await expect.poll(state, { timeout: 20_000 }).toBe("confirmed");
});

it("finds a blob whose two uploads overlapped, the older one ending last", async () => {
  const walk = await start();
  const { port } = new URL(walk.app.url);
  const path = "/v1/traces/blobs/snapshots/overlap/weights.safetensors";
  const bytes = Buffer.alloc(200, 1);
  const slow = await open(Number(port));
  slow.write([`PUT ${path} HTTP/1.1`, "Host: localhost", `Content-Length: ${bytes.length}`, "", ""].join("\r\n"));
  slow.write(bytes.subarray(0, 100));
  // Its time is taken with its head, in milliseconds: the other one's must be a later one.
  const sentMs = Date.now();
  await expect.poll(() => Date.now() - sentMs).toBeGreaterThan(20);
  expect((await fetch(walk.app.url + path, { method: "PUT", body: bytes })).status).toBe(201);
  slow.write(bytes.subarray(100));
  const [answer] = (await once(slow, "data")) as [Buffer];
  expect(answer.toString()).toContain(" 201 ");
  const span = { id: "overlap", name: "step", parent_id: null, start_ns: 1, end_ns: 9, pid: 1 };
  const batch = { schema_version: 1, batch_id: "b", created_ns: 1, spans: [span], marks: [], snapshots: [] };
  expect((await walk.post("/v1/traces?wait=1", JSON.stringify(batch))).status).toBe(202);
  const found = async () => (await fetch(walk.app.url + path)).status;
  await expect.poll(found, { timeout: 20_000 }).toBe(200);
});

it("takes no command for a run that has ended, which the next one of its id would get", async () => {
  const walk = await start();
  const end = toFrame({ type: "run_end", seq: 2, ts: ts + 1, payload: { run_id: "over", status: "completed" } });
  await walk.post("/v1/xtrack?wait=1", Buffer.concat([startOf("over"), end]));
  const { status, body } = await walk.post("/api/v1/runs/over/commands", JSON.stringify({ type: "stop" }));
  expect([status, (body as { code: string }).code]).toEqual([409, "command_run_ended"]);
  expect((await walk.get("/api/v1/runs/over/commands")).body).toMatchObject({ commands: [] });
});
