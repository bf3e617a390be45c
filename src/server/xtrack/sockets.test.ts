import { stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkerChannel } from "#control/control.ts";
import { DocumentClient, encode } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { eventually } from "../../../tests/support/several.ts";
import type { ConnectionRules } from "./connection.ts";
import { outgoingLimitsDefault } from "./outgoing.ts";
import type { Gate } from "./ports.ts";
import { openSmallCollector, rowsOf, type SmallCollector } from "./small-collector.testing.ts";
import { createSocketServer, type ListenAddress, type SocketServer } from "./sockets.ts";

let dir: string;
let collector: SmallCollector;
let servers: SocketServer[];
const channels = new Map<string, WorkerChannel>();

beforeEach(async () => {
  dir = makeFolder();
  collector = await openSmallCollector({ dir: join(dir, "journal") });
  servers = [];
  channels.clear();
});
afterEach(async () => {
  collector.isFull = false;
  await Promise.all(servers.map((server) => server.close()));
  await collector.close();
});

const openGate: Gate = { admit: () => ({ workspace: "default", source: "local" }) };
const rules: ConnectionRules = {
  acks: "asked",
  firstFrameTimeoutMs: 5000,
  pendingBytesMax: 1024 * 1024,
  outgoing: outgoingLimitsDefault,
};

interface ServeOptions {
  readonly gate?: Gate;
  readonly rules?: Partial<ConnectionRules>;
  readonly connectionsMax?: number;
  readonly listen?: ListenAddress;
}

async function serve(options: ServeOptions = {}) {
  const server = await createSocketServer({
    listen: options.listen ?? { host: "127.0.0.1", port: 0 },
    connectionsMax: options.connectionsMax ?? 10_000,
    rules: { ...rules, ...options.rules },
    counters: collector.counters,
    ports: {
      sink: collector.sink,
      gate: options.gate ?? openGate,
      nowUs: () => Date.now() * 1000,
      desk: {
        hearAck: () => undefined,
        attach(_, runId, worker, channel) {
          channels.set(`${runId}/${worker}`, channel);
          return () => channels.delete(`${runId}/${worker}`);
        },
      },
    },
  });
  servers.push(server);
  return server.address as { host: string; port: number };
}

describe("a client that never reads", () => {
  it("has all its events stored and is never sent a byte", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "plain" });
    client.runStart();
    for (let step = 1; step <= 5000; step++) client.metric("loss", 1 / step, step);
    client.runEnd();
    await client.end();
    expect(await collector.stored()).toEqual(client.sent);
    expect(client.socket.bytesRead).toBe(0);
    expect(collector.endings).toEqual(["eof"]);
    expect(collector.counters).toMatchObject({ accepted: 1, open: 0, resets: 0, pauses: 0 });
  });

  it("is read at full speed when there is no room, and what cannot be kept is counted", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "plain" });
    client.runStart();
    await eventually(async () => (await collector.stored()).length === 1);
    collector.isFull = true;
    for (let step = 1; step <= 30_000; step++) client.metric("loss", 1, step);
    client.runEnd();
    const { counters } = collector.intake;
    await eventually(() => client.socket.writableLength === 0 && counters.lost > 0 && counters.gatheredBytes === 0);
    expect(collector.counters.pauses).toBe(0);
    collector.isFull = false;
    await client.end();
    await eventually(() => rowsOf(collector.applied, "faults").length > 0);
    const { lost } = collector.intake.counters;
    expect(lost).toBeGreaterThan(1000);
    expect(rowsOf(collector.applied, "faults")).toMatchObject([
      { code: "xtrack_events_lost", group_key: "default/x/plain" },
    ]);
    expect((await collector.stored()).length + lost).toBe(30_002);
  });

  it("may send frames of many megabytes, and go on after tearing one [XT-25]", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "plain" });
    client.runStart();
    client.emit("param", { key: "config", value: "x".repeat(8 * 1024 * 1024) });
    const torn = encode({ v: 1, t: "log", m: { seq: 3, ts: 3 }, p: { run_id: "plain", level: "info", msg: "never" } });
    client.socket.write(torn.subarray(0, 40));
    client.metric("loss", 1, 1);
    client.runEnd();
    await client.end();
    expect(rowsOf(collector.applied, "params")[0]?.["value"]).toHaveLength(8 * 1024 * 1024 + 2);
    expect(rowsOf(collector.applied, "metrics").length).toBe(1);
    expect(rowsOf(collector.applied, "events").map(({ type }) => type)).toEqual(["run_start", "run_end"]);
    expect(rowsOf(collector.applied, "faults").map(({ code }) => code)).toEqual(["xtrack_bytes_skipped"]);
  });

  it("is told apart from one whose connection was reset [XT-04]", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "plain" });
    client.runStart();
    await eventually(async () => (await collector.stored()).length === 1);
    client.socket.resetAndDestroy();
    await eventually(() => collector.endings.length === 1);
    expect(collector.endings).toEqual(["reset"]);
    expect(collector.counters.resets).toBe(1);
  });
});

describe("acks", () => {
  it("name run, worker and sequence number, count by themselves, and come after the event is durable [XT-19]", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", wid: "w0", accepts: ["ack"] });
    client.runStart();
    for (let step = 1; step <= 100; step++) client.metric("loss", 1, step);
    await client.until(() => client.acks.length === 101);
    expect(client.acks.map(({ p }) => p)).toEqual(
      Array.from({ length: 101 }, (_, at) => ({ seq: at + 1, status: "ok", error: null, run_id: "r", wid: "w0" })),
    );
    expect(client.acks.map(({ m }) => m.seq)).toEqual(Array.from({ length: 101 }, (_, at) => at + 1));
    expect((await collector.stored()).length).toBe(101);
    await client.end();
  });

  it("say what was wrong with an event that was refused", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["ack"] });
    client.runStart();
    client.emit("metric", { key: "loss" });
    await client.until(() => client.acks.length === 2);
    expect(client.acks[1]?.p).toMatchObject({ seq: 2, status: "error", error: "p.value is required and missing" });
    await client.end();
  });

  it("say of an event whose number is known with other content that it is durable: as a fault beside the first", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["ack"] });
    client.runStart();
    const first = client.metric("loss", 1, 1);
    client.send({ ...first, p: { ...first.p, value: 2 } });
    await client.until(() => client.acks.length === 3);
    expect(client.acks.map(({ p }) => [p["seq"], p["status"], p["error"]])).toEqual([
      [1, "ok", null],
      [2, "ok", null],
      [2, "ok", null],
    ]);
    await client.end();
    expect(rowsOf(collector.applied, "metrics")).toMatchObject([{ value: 1 }]);
    const [conflict, ...others] = rowsOf(collector.applied, "faults");
    expect([conflict?.["code"], others]).toEqual(["identity_conflict", []]);
    expect(Buffer.from(conflict?.["raw"] as Uint8Array).toString()).toContain('"value":2');
  });

  it("start when a worker sends an ack or a command of its own, and not before", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r" });
    client.runStart();
    client.emit("ack", { seq: 0, status: "ok" });
    client.metric("loss", 1, 1);
    await client.until(() => client.acks.length === 1);
    expect(client.acks[0]?.p).toMatchObject({ seq: 3 });
    await client.end();
  });

  it("reach a worker that has ended its side already", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["ack"] });
    client.runStart();
    for (let step = 1; step <= 2000; step++) client.metric("loss", 1, step);
    await client.end();
    expect(client.acks.length).toBe(2001);
  });

  it("come always or never when the setting says so", async () => {
    const always = await DocumentClient.connect(await serve({ rules: { acks: "always" } }), { runId: "a" });
    always.runStart();
    await always.until(() => always.acks.length === 1);
    await always.end();
    const never = await DocumentClient.connect(await serve({ rules: { acks: "never" } }), {
      runId: "n",
      accepts: ["ack", "command"],
    });
    never.runStart();
    await never.end();
    expect(never.received).toEqual([]);
    expect(channels.size).toBe(0);
  });

  it("cost a bounded backlog and nothing else when the worker stops reading", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["ack"] });
    client.socket.pause();
    client.runStart();
    const count = 100_000;
    for (let step = 1; step < count; step++) {
      client.metric("loss", 1, step);
      if (step % 1000 === 0) await new Promise(setImmediate);
    }
    await eventually(async () => (await collector.stored()).length === count);
    expect(collector.counters.acksSent).toBeLessThan(count);
    client.socket.resume();
    await client.until(() => client.acks.length === count);
    expect(collector.counters.acksDropped).toBe(0);
    await client.end();
  });

  it("make a worker wait when there is no room, so that nothing of it is lost", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["ack"] });
    client.runStart();
    await client.until(() => client.acks.length === 1);
    collector.isFull = true;
    for (let step = 1; step <= 20_000; step++) client.metric("loss", 1, step);
    await eventually(() => collector.counters.pauses > 0);
    collector.isFull = false;
    await client.until(() => client.acks.length === 20_001);
    expect(collector.intake.counters.lost).toBe(0);
    await client.end();
  });
});

describe("commands", () => {
  it("go only to connections that asked, as whole frames [XT-18]", async () => {
    const address = await serve();
    const deaf = await DocumentClient.connect(address, { runId: "r", wid: "deaf", accepts: ["ack"] });
    const client = await DocumentClient.connect(address, { runId: "r", wid: "w0", accepts: ["command"] });
    deaf.runStart();
    client.runStart();
    await eventually(() => channels.has("r/w0"));
    expect(channels.has("r/deaf")).toBe(false);
    const send = channels.get("r/w0")?.send({ cmdId: "c-1", type: "adjust_lr", payload: '{"lr":0.0001}' });
    await client.until(() => client.commands.length === 1);
    expect(await send).toBe(true);
    expect(client.commands[0]).toMatchObject({
      v: 1,
      t: "command",
      p: { cmd_id: "c-1", type: "adjust_lr", payload: { lr: 0.0001 }, run_id: "r", wid: "w0" },
    });
    expect(client.acks).toEqual([]);
    await Promise.all([client.end(), deaf.end()]);
    expect(channels.size).toBe(0);
  });

  it("cannot be sent to a worker that is gone", async () => {
    const client = await DocumentClient.connect(await serve(), { runId: "r", accepts: ["command"] });
    client.runStart();
    await eventually(() => channels.has("r/"));
    const channel = channels.get("r/") as WorkerChannel;
    client.socket.resetAndDestroy();
    await eventually(() => collector.counters.open === 0);
    expect(await channel.send({ cmdId: "c", type: "stop", payload: "{}" })).toBe(false);
  });
});

describe("keys", () => {
  const gate: Gate = { admit: (key) => (key === "trib_good" ? { workspace: "lab", source: "key:1" } : null) };
  const auth = (key: string) => encode({ v: 1, t: "auth", m: { seq: 0, ts: 1 }, p: { key } });

  it.each([
    ["a first line", Buffer.from("trib_good\n")],
    ["a first frame", auth("trib_good")],
  ])("are taken from %s, decide the workspace, and are never stored", async (_, opening) => {
    const client = await DocumentClient.connect(await serve({ gate }), { runId: "r" });
    client.socket.write(opening);
    client.runStart();
    await client.end();
    expect(collector.origins).toMatchObject([
      { workspace: "lab", source: "key:1", transport: "tcp", peer: "127.0.0.1" },
    ]);
    expect(await collector.stored()).toEqual(client.sent);
  });

  it.each([
    ["missing", Buffer.alloc(0)],
    ["wrong", Buffer.from("trib_bad\n")],
    ["wrong in a frame", auth("trib_bad")],
  ])("that are %s let nothing in, but the connection is drained and stays open", async (_, opening) => {
    const address = await serve({ gate, rules: { firstFrameTimeoutMs: 100 } });
    const client = await DocumentClient.connect(address, { runId: "r" });
    client.socket.write(opening);
    client.runStart();
    for (let step = 1; step <= 20_000; step++) client.metric("loss", 1, step);
    await eventually(() => collector.counters.unauthorizedBytes > 1_000_000);
    await outwait(address);
    expect(client.socket.destroyed).toBe(false);
    await client.end();
    expect(await collector.stored()).toEqual([]);
    expect(collector.counters).toMatchObject({ unauthorized: 1, timedOut: 1 });
    expect(collector.counters.unauthorizedBytes).toBeGreaterThan(1_000_000);
  });
});

/** Until a connection that says nothing has run out of time: those before it would have, if their time still ran. */
async function outwait(address: Awaited<ReturnType<typeof serve>>): Promise<void> {
  const silent = await DocumentClient.connect(address, { runId: "silent" });
  await eventually(() => silent.socket.destroyed);
}

describe("limits", () => {
  it("close a connection that sends no whole frame in time, and never one that did", async () => {
    const address = await serve({ rules: { firstFrameTimeoutMs: 150 } });
    const [silent, torn, slow] = await Promise.all(
      ["silent", "torn", "slow"].map((runId) => DocumentClient.connect(address, { runId })),
    );
    torn?.socket.write(Buffer.from([0, 0, 1, 0, 0x7b]));
    slow?.runStart();
    await eventually(() => silent?.socket.destroyed === true && torn?.socket.destroyed === true);
    await outwait(address);
    slow?.runEnd();
    await slow?.end();
    expect((await collector.stored()).length).toBe(2);
    expect(collector.counters.timedOut).toBe(3);
  });

  it("turn away connections beyond their number and count them", async () => {
    const address = await serve({ connectionsMax: 3 });
    const clients = await Promise.all(
      Array.from({ length: 3 }, (_, at) => DocumentClient.connect(address, { runId: `r${at}` })),
    );
    for (const client of clients) client.runStart();
    await eventually(async () => (await collector.stored()).length === 3);
    const extra = connect(address.port, address.host);
    await new Promise((resolve) => extra.once("close", resolve));
    expect(collector.counters).toMatchObject({ open: 3, overLimit: 1 });
    await Promise.all(clients.map((client) => client.end()));
  });

  it("hold a thousand connections at once", async () => {
    const address = await serve();
    const clients = await Promise.all(
      Array.from({ length: 1000 }, (_, at) => DocumentClient.connect(address, { runId: "r", wid: `w${at}` })),
    );
    for (const client of clients) client.runStart();
    await eventually(() => collector.counters.open === 1000);
    for (const client of clients) client.runEnd();
    await Promise.all(clients.map((client) => client.end()));
    expect((await collector.stored()).length).toBe(2000);
    expect(collector.counters.open).toBe(0);
  });
});

describe("shutting down", () => {
  it("makes durable what came, tells the workers that wait, and closes", async () => {
    const address = await serve();
    const client = await DocumentClient.connect(address, { runId: "r", accepts: ["ack"] });
    client.runStart();
    await client.until(() => client.acks.length === 1);
    // Sent a moment before the server is told to end.
    client.metric("loss", 1, 1);
    await servers.pop()?.close();
    expect((await collector.stored()).length).toBe(2);
    expect(collector.endings).toEqual(["shutdown"]);
    await client.until(() => client.socket.destroyed || client.socket.readableEnded);
    await expect(DocumentClient.connect(address, { runId: "r" })).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

describe("a Unix socket", () => {
  it("is closed to other users and works like TCP", async () => {
    const path = join(dir, "x.sock");
    await serve({ listen: { path } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const client = await DocumentClient.connect({ path }, { runId: "r", accepts: ["ack"] });
    client.runStart();
    await client.end();
    expect(client.acks.length).toBe(1);
    expect(collector.origins).toMatchObject([{ transport: "unix", peer: "localhost" }]);
    await servers.pop()?.close();
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("replaces what a killed server left, but neither a live one nor a file", async () => {
    const path = join(dir, "x.sock");
    const { createServer } = await import("node:net");
    const { rename } = await import("node:fs/promises");
    const old = createServer();
    await new Promise<void>((resolve) => old.listen(join(dir, "old.sock"), resolve));
    await rename(join(dir, "old.sock"), path);
    await new Promise((resolve) => old.close(resolve));
    await serve({ listen: { path } });
    await expect(serve({ listen: { path } })).rejects.toMatchObject({ code: "EADDRINUSE" });
    const file = join(dir, "file");
    await writeFile(file, "precious");
    await expect(serve({ listen: { path: file } })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});
