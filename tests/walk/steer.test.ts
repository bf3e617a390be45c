// The SDK and the whole server: connections that break, a server that restarts, and commands by HTTP.

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Run, startRun } from "#emit/xtrack.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { openRelay, type Relay } from "../support/relay.ts";
import { eventually } from "../support/several.ts";

const walk = suiteApp();
let line: Relay;

beforeAll(async () => {
  line = await openLine();
});
afterAll(async () => {
  line.close();
});
const runs: Run[] = [];
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.end({ timeoutMs: 1000 })));
});

/** Leads to wherever the server is now. */
const openLine = (): Promise<Relay> =>
  openRelay(() => connect(Number(walk.app.xtrack[0]?.split(":").at(-1)), "127.0.0.1"));

function start(id: string, workerId: string): Run {
  const transport = { kind: "tcp", host: "127.0.0.1", port: line.port } as const;
  const run = startRun({ id, workerId, transport, source: false, env: false });
  runs.push(run);
  return run;
}

interface Commands {
  readonly accepting: string[];
  readonly commands: {
    readonly id: string;
    readonly type: string;
    readonly state: string;
    readonly by: string;
    readonly note: string;
  }[];
}
const commandsOf = async (id: string) => (await walk.get(`/api/v1/runs/${id}/commands`)).body as Commands;
const send = (id: string, body: object) => walk.post(`/api/v1/runs/${id}/commands`, JSON.stringify(body));

test("every event of the SDK arrives once, though its line is cut and the server restarts", async () => {
  const workers = ["w0", "w1"].map((wid) => start("cut", wid));
  const steps = 3000;
  for (let step = 1; step <= steps; step++) {
    for (const run of workers) run.metric("loss", 1 / step, { step });
    if (step % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
    if (step === 1000 || step === 2000) line.cut();
    if (step === 1500) await walk.reopen();
  }
  await Promise.all(workers.map((run) => run.end({ timeoutMs: 15_000 })));
  await walk.app.collector.drained();
  const sql = "SELECT worker, count() AS n, uniqExact(seq) AS distinct, max(step) AS last FROM tributary.metrics";
  const rows = await askStore(walk.app.collector.store, {
    sql: `${sql} WHERE group_key = 'default/x/cut' GROUP BY worker ORDER BY worker`,
  });
  expect(rows).toEqual(
    ["w0", "w1"].map((worker) => ({ worker, n: String(steps), distinct: String(steps), last: String(steps) })),
  );
  const { body } = await walk.get("/api/v1/runs/cut");
  expect(body).toMatchObject({ status: "completed" });
});

test("a command by HTTP reaches the program, and its answer is seen", async () => {
  const run = start("steered", "w0");
  let rate = 0.1;
  run.on("adjust_lr", ({ payload }) => {
    rate = payload["lr"] as number;
  });
  run.on("stop", () => {
    throw new Error("not in the middle of an epoch");
  });
  await eventually(
    async () => (await commandsOf("steered")).accepting?.length === 1,
    "the worker's asking did not come",
  );
  const sent = await send("steered", { type: "adjust_lr", payload: { lr: 0.0001 } });
  expect(sent).toMatchObject({ status: 202, body: { type: "adjust_lr", payload: '{"lr":0.0001}', by: "local" } });
  await send("steered", { type: "stop", worker: "w0" });
  await send("steered", { type: "pause", worker: "nobody" });
  const states = async () => (await commandsOf("steered")).commands.map(({ state }) => state);
  await eventually(async () => (await states()).join() === "confirmed,refused,queued", "the answers did not come");
  expect(rate).toBe(0.0001);
  expect((await commandsOf("steered")).commands[1]?.note).toContain("not in the middle of an epoch");
  expect(await send("steered", { type: "adjust_lr" })).toMatchObject({ status: 400 });
  const taken = (await commandsOf("steered")).commands[0]?.id;
  const late = await fetch(`${walk.app.url}/api/v1/runs/steered/commands/${taken}`, { method: "DELETE" });
  expect([late.status, await late.json()]).toMatchObject([409, { at: { part: "path", name: "command" } }]);
  await run.end({ timeoutMs: 5000 });
  await walk.reopen();
  expect(await states()).toEqual(["confirmed", "refused", "queued"]);
});

test("a command to joined runs reaches the workers of all that have any, and to one worker only its run", async () => {
  const heard: string[] = [];
  for (const [id, worker] of [
    ["half", "w0"],
    ["other-half", "w1"],
  ] as const)
    start(id, worker).on("checkpoint_now", () => void heard.push(worker));
  await walk.post(
    "/v1/runs/half-profile/traces?wait=1",
    toBatchText("half", [{ id: "h", parent: null, name: "epoch", at: 1 }]),
  );
  const asking = async (id: string) => (await commandsOf(id)).accepting?.length === 1;
  await eventually(async () => (await asking("half")) && (await asking("other-half")), "the workers' asking");
  await walk.post("/api/v1/runs/half-profile/join", JSON.stringify({ ids: ["half", "other-half"] }));
  expect((await commandsOf("half-profile")).accepting).toEqual(["w0", "w1"]);
  expect((await send("half-profile", { type: "checkpoint_now" })).body).toMatchObject({
    run: "half",
    also: [{ run: "other-half", type: "checkpoint_now" }],
  });
  expect((await send("half", { type: "checkpoint_now", worker: "w1" })).body).toMatchObject({
    run: "other-half",
    also: [],
  });
  await eventually(
    async () => (await commandsOf("half")).commands.every(({ state }) => state === "confirmed"),
    "the confirmations",
  );
  expect(heard.toSorted()).toEqual(["w0", "w1", "w1"]);
});

test("a worker behind a proxy is kept and steered by WebSocket all the same", async () => {
  const url = `${walk.app.url.replace("http", "ws")}/v1/xtrack`;
  const run = startRun({ id: "by-ws", transport: { kind: "ws", url }, source: false, env: false });
  runs.push(run);
  run.on("pause", () => run.status("paused"));
  for (let step = 1; step <= 1000; step++) run.metric("loss", 1 / step, { step });
  await eventually(async () => (await commandsOf("by-ws")).accepting?.length === 1, "the worker's asking did not come");
  await send("by-ws", { type: "pause" });
  await eventually(
    async () => (await commandsOf("by-ws")).commands[0]?.state === "confirmed",
    "the confirmation did not come",
  );
  await run.end({ timeoutMs: 5000 });
  expect(run.health).toMatchObject({ dropped: 0 });
  await walk.app.collector.drained();
  const { body } = await walk.get("/api/v1/runs/by-ws/metrics");
  expect(body).toMatchObject({ metrics: [{ key: "loss", count: 1000 }] });
});

test("a command that is sent again with its key, because no answer came, is one command, also when the run has ended", async () => {
  const run = start("sent-twice", "w0");
  let stops = 0;
  run.on("stop", () => void stops++);
  await eventually(async () => (await commandsOf("sent-twice")).accepting?.length === 1, "the worker's asking");
  const stop = { type: "stop", idempotency_key: "first try" };
  const sent = await send("sent-twice", stop);
  expect(sent.status).toBe(202);
  await eventually(async () => (await commandsOf("sent-twice")).commands[0]?.state === "confirmed", "the confirmation");
  await run.end({ timeoutMs: 5000 });
  await walk.reopen();
  const again = await send("sent-twice", stop);
  expect([again.status, (again.body as { id: string }).id]).toEqual([202, (sent.body as { id: string }).id]);
  expect([stops, (await commandsOf("sent-twice")).commands.length]).toEqual([1, 1]);
  expect(await send("sent-twice", { ...stop, type: "pause" })).toMatchObject({
    status: 409,
    body: { code: "command_key_used" },
  });
});

test("a command's integers reach the store and the worker with all their digits", async () => {
  const body = '{"type":"update_params","payload":{"seed":1152921504606846977,"p":0.5,"n":[9007199254740993,3]}}';
  start("digits", "w");
  await eventually(async () => (await walk.get("/api/v1/runs/digits")).status === 200, "the run did not come");
  const { status, body: sent } = await walk.post("/api/v1/runs/digits/commands", body);
  expect(status).toBe(202);
  expect((sent as { payload: string }).payload).toBe('{"seed":1152921504606846977,"p":0.5,"n":[9007199254740993,3]}');
});

test("an answer to a command that names no run counts by HTTP too, as from a program under `tributary run`", async () => {
  const socket = connect(line.port, "127.0.0.1");
  socket.write(encodeFrame("run_start", { seq: 1, ts: 1, wid: "w" }, { run_id: "loose", accepts: ["command"] }));
  await eventually(async () => (await commandsOf("loose")).accepting?.length === 1, "the worker's asking");
  const { body } = await send("loose", { type: "custom", payload: { word: "hello" } });
  await eventually(async () => (await commandsOf("loose")).commands[0]?.state === "delivered", "the delivery");
  const ack = encodeFrame(
    "ack",
    { seq: 2, ts: 2, wid: "w" },
    { seq: 1, cmd_id: (body as { id: string }).id, status: "ok" },
  );
  await walk.post("/v1/xtrack?imported=1", ack, { "content-type": "application/octet-stream" });
  expect((await commandsOf("loose")).commands[0]?.state).toBe("delivered");
  await walk.post("/v1/xtrack", ack, { "content-type": "application/octet-stream" });
  await eventually(async () => (await commandsOf("loose")).commands[0]?.state === "confirmed", "the confirmation");
  socket.destroy();
});

test("the run that an address names has the events that name none", async () => {
  const frame = encodeFrame("metric", { seq: 1, ts: 1, wid: "w" }, { key: "loss", value: 1 } as never);
  const type = { "content-type": "application/octet-stream" };
  const { body } = await walk.post("/v1/xtrack?run=by-address&wait=1", frame, type);
  expect(body).toMatchObject({ accepted: 1, faults: [] });
  const socket = new WebSocket(`${walk.app.url.replace("http", "ws")}/v1/xtrack?run=by-socket`);
  await once(socket, "open");
  socket.send(frame);
  socket.close();
  await eventually(async () => (await walk.get("/api/v1/runs/by-socket")).status === 200, "the run");
  for (const run of ["by-address", "by-socket"])
    expect((await walk.get(`/api/v1/runs/${run}/metrics`)).body).toMatchObject({
      metrics: [{ key: "loss", count: 1 }],
    });
});
