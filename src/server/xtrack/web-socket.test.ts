import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type Envelope, encode, FrameReader } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import { openSmallCollector, rowsOf, type SmallCollector } from "./small-collector.testing.ts";
import { createWebSocketDoor, type WebSocketDoor } from "./web-socket.ts";

let dir: string;
let collector: SmallCollector;
let door: WebSocketDoor;
let http: Server;

beforeEach(async () => {
  dir = makeFolder();
  collector = await openSmallCollector({ dir });
  door = createWebSocketDoor({
    counters: collector.counters,
    rules: { acks: "asked", firstFrameTimeoutMs: 5000, pendingBytesMax: 1024 * 1024, outgoing: outgoingLimitsDefault },
    ports: {
      sink: collector.sink,
      desk: { attach: () => () => undefined, hearAck: () => undefined },
      nowUs: () => Date.now() * 1000,
    },
  });
  const upgrades = new WebSocketServer({ noServer: true });
  http = createServer();
  http.on("upgrade", (request, socket, head) => {
    upgrades.handleUpgrade(request, socket, head, (webSocket) =>
      door.accept(webSocket, { workspace: "lab", source: "key:1" }, "10.0.0.1", { runOverride: "named" }),
    );
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
});
afterEach(async () => {
  await door.close();
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
  await collector.close();
});

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}/v1/xtrack`);
  await once(socket, "open");
  return socket;
}

const event = (seq: number, accepts?: string[]) =>
  encode({
    v: 1,
    t: seq === 1 ? "run_start" : "metric",
    m: { seq, ts: seq },
    p: { run_id: "r", key: "k", value: 1, accepts },
  });

it("takes binary messages as chunks of the stream, however they are cut, and acks to those who ask", async () => {
  const socket = await open();
  const reader = new FrameReader();
  const acks: Envelope[] = [];
  socket.on("message", (data) => acks.push(...reader.push(data as Buffer)));
  const whole = Buffer.concat([event(1, ["ack"]), ...Array.from({ length: 500 }, (_, at) => event(at + 2))]);
  for (let at = 0; at < whole.length; at += 777) socket.send(whole.subarray(at, at + 777));
  while (acks.length < 501) await once(socket, "message");
  expect(acks.map(({ p }) => p["seq"])).toEqual(Array.from({ length: 501 }, (_, at) => at + 1));
  expect((await collector.stored()).length).toBe(501);
  expect(collector.origins).toEqual([
    { transport: "ws", peer: "10.0.0.1", workspace: "lab", source: "key:1", runOverride: "named" },
  ]);
  socket.close();
  await once(socket, "close");
  while (collector.counters.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(collector.endings).toEqual(["eof"]);
});

it("takes a key that comes as a first text message out of the stream, and never sends to those who did not ask", async () => {
  const socket = await open();
  let received = 0;
  socket.on("message", () => received++);
  socket.send("trib_secret");
  socket.send(event(1));
  socket.close();
  await once(socket, "close");
  while (collector.counters.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await collector.stored()).length).toBe(1);
  expect(received).toBe(0);
});

it("keeps a text message that is no key as bytes that are no frame, and goes on behind it", async () => {
  const socket = await open();
  socket.send(event(1));
  socket.send('{"v":1,"t":"metric"}');
  socket.send(event(2));
  socket.close();
  await once(socket, "close");
  while (collector.counters.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const faults = rowsOf(collector.applied, "faults");
  expect(faults.map(({ code }) => code)).toEqual(["xtrack_bytes_skipped"]);
  expect(Buffer.from(faults[0]?.["raw"] as Uint8Array).toString()).toBe('{"v":1,"t":"metric"}\n');
  expect(rowsOf(collector.applied, "metrics").map(({ seq }) => seq)).toEqual([2n]);
});

it("gives events that name no run the one that the connection names", async () => {
  const socket = await open();
  socket.send(encode({ v: 1, t: "metric", m: { seq: 1, ts: 1 }, p: { key: "k", value: 1 } }));
  socket.close();
  await once(socket, "close");
  while (collector.counters.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(rowsOf(collector.applied, "faults")).toEqual([]);
  expect(rowsOf(collector.applied, "metrics")).toMatchObject([{ group_key: "lab/x/named" }]);
});

it("tells a connection that broke from one that was closed", async () => {
  const socket = await open();
  socket.send(event(1));
  while ((await collector.stored()).length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  socket.terminate();
  while (collector.counters.open > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(collector.endings).toEqual(["reset"]);
});

it("makes durable what came before it shuts down", async () => {
  const socket = await open();
  socket.send(event(1));
  while (collector.counters.bytes === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = once(socket, "close");
  await door.close();
  await closed;
  expect((await collector.stored()).length).toBe(1);
  expect(collector.endings).toEqual(["shutdown"]);
});
