// The document's tables, row by row, from a worker that was written from the document alone, over a real socket.

import { afterEach, beforeEach, expect, it } from "vitest";
import { DocumentClient, type Envelope, encode } from "../../../tests/clients/xtrack-document-client.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
import { listenFor, openSmallCollector, rowsOf, type SmallCollector } from "./small-collector.testing.ts";
import type { SocketServer } from "./sockets.ts";

let dir: string;
let collector: SmallCollector;
let server: SocketServer;
let client: DocumentClient;

beforeEach(async () => {
  dir = makeFolder();
  collector = await openSmallCollector({ dir });
  server = await listenFor(collector);
  client = await DocumentClient.connect(server.address as { host: string; port: number }, {
    runId: "doc",
    wid: "worker-0",
    accepts: ["ack", "command"],
  });
  client.runStart();
});
afterEach(async () => {
  client.socket.destroy();
  await server.close();
  await collector.close();
});

const ackOf = ({ m }: Envelope) => client.acks.find(({ p }) => p["seq"] === m.seq)?.p;

async function accept(...events: Envelope[]): Promise<void> {
  for (const event of events) {
    await client.until(() => ackOf(event) !== undefined, `the ack of ${event.t} ${event.m.seq}`);
    expect(ackOf(event)).toEqual({ seq: event.m.seq, status: "ok", error: null, run_id: "doc", wid: "worker-0" });
  }
}

const rows = (table: Parameters<typeof rowsOf>[1]) => rowsOf(collector.applied, table);
const payloads = (type: string) =>
  rows("events")
    .filter((row) => row["type"] === type)
    .map((row) => JSON.parse(row["payload"] as string));

it("takes run_start with every field, and with a plain string as its id [XT-09]", async () => {
  const full = {
    run_id: { id: "doc", exp_id: "exp-1", parent_id: "parent-1" },
    name: "human-readable-name",
    tags: { key: "value" },
    source: { git_commit: "abc", git_branch: "main", git_repo: "https://x", entrypoint: "t.py", code_hash: "sha256:1" },
    env: {
      python_version: "3.11.0",
      platform: "Linux",
      hostname: "node-1",
      gpu_info: [{ name: "A100", memory: 40_000_000_000 }],
      env_vars: { CUDA_VISIBLE_DEVICES: "0,1" },
    },
  };
  await accept(client.emit("run_start", full), client.emit("run_start", { run_id: "doc" }));
  expect(payloads("run_start").slice(1)).toEqual([full, { run_id: "doc" }]);
});

it("takes run_end with each status, the error, the final metrics and the duration [XT-10]", async () => {
  const error = { type: "RuntimeError", message: "CUDA out of memory", traceback: "Traceback…" };
  const ends = [
    { status: "completed", final_metrics: { val_loss: 0.123, val_acc: 0.95 }, duration_ms: 3_600_000 },
    { status: "failed", error },
    { status: "killed" },
  ];
  await accept(...ends.map((end) => client.emit("run_end", end)));
  expect(payloads("run_end")).toEqual(ends.map((end) => ({ run_id: "doc", ...end })));
});

it("takes params of every JSON type and flattens nested ones [XT-11]", async () => {
  const values = [0.001, "adam", true, [1, 2], { a: 1 }];
  await accept(
    ...values.map((value, at) => client.emit("param", { key: `p${at}`, value })),
    client.emit("param", { key: "optimizer", value: "adam", nested_key: ["type"] }),
    client.emit("param", { key: "optimizer", value: 0.001, nested_key: ["config", "lr"] }),
  );
  expect(rows("params").map(({ name, value }) => [name, JSON.parse(value as string)])).toEqual([
    ...values.map((value, at) => [`p${at}`, value]),
    ["optimizer.type", "adam"],
    ["optimizer.config.lr", 0.001],
  ]);
});

it("takes metrics with step, epoch and every context field [XT-12]", async () => {
  const contexts = ["train", "val", "test"].flatMap((phase) =>
    ["mean", "sum", "last"].map((agg) => ({ phase, batch_size: 32, dataset_size: 50_000, agg })),
  );
  await accept(
    client.emit("metric", { key: "loss", value: 0.5 }),
    ...contexts.map((ctx, at) => client.emit("metric", { key: "loss", value: at, step: 1000 + at, epoch: 5, ctx })),
  );
  const [bare, ...full] = rows("metrics");
  expect(bare).toMatchObject({ key: "loss", value: 0.5, step: null, epoch: null, phase: "", worker: "worker-0" });
  expect(full.map(({ value, step, epoch, phase, ctx }) => ({ value, step, epoch, phase, ctx }))).toEqual(
    contexts.map(({ phase, ...ctx }, at) => ({
      value: at,
      step: BigInt(1000 + at),
      epoch: 5n,
      phase,
      ctx: JSON.stringify(ctx),
    })),
  );
});

it("takes a metric_batch as one event whose entries share step and epoch [XT-13]", async () => {
  const metrics = { loss: 0.5, accuracy: 0.85, lr: 0.001 };
  await accept(client.emit("metric_batch", { metrics, step: 1000, epoch: 5, ctx: { phase: "train" } }));
  expect(rows("metrics").map(({ key, value, step, epoch, phase }) => [key, value, step, epoch, phase])).toEqual(
    Object.entries(metrics).map(([key, value]) => [key, value, 1000n, 5n, "train"]),
  );
});

it("takes artifacts of all thirteen types and three upload strategies [XT-14]", async () => {
  const types = "model checkpoint weights config plot figure image data predictions embeddings log profile other";
  const sent = types.split(" ").flatMap((type) =>
    ["reference", "inline", "stream"].map((upload) => ({
      run_id: "doc",
      path: "/absolute/path/to/model.pt",
      type,
      name: "best_model",
      meta: { framework: "pytorch" },
      size: 1_234_567_890,
      checksum: "sha256:abc",
      upload,
    })),
  );
  await accept(...sent.map((payload) => client.emit("artifact", payload)), client.emit("artifact", { path: "/x" }));
  expect(payloads("artifact")).toEqual([...sent, { run_id: "doc", path: "/x" }]);
  expect(rows("events").every(({ flags }) => flags === 0)).toBe(true);
});

it("takes checkpoints with every field, and with step and path alone [XT-15]", async () => {
  const full = {
    run_id: "doc",
    step: 10_000,
    epoch: 10,
    path: "/path/to/checkpoint_10.pt",
    metrics: { val_loss: 0.123 },
    is_best: true,
    best_key: "val_loss",
    meta: { optimizer_state: true },
  };
  await accept(client.emit("checkpoint", full), client.emit("checkpoint", { step: 1, path: "/c" }));
  expect(payloads("checkpoint")).toEqual([full, { run_id: "doc", step: 1, path: "/c" }]);
});

it("takes all eleven statuses with message and progress [XT-16]", async () => {
  const words =
    "initializing running training evaluating checkpointing paused resuming finishing completed failed killed";
  const sent = words.split(" ").map((status, cur) => ({
    run_id: "doc",
    status,
    msg: `Epoch ${cur}/11`,
    progress: { cur, total: 11, unit: "epochs" },
  }));
  await accept(...sent.map((payload) => client.emit("status", payload)));
  expect(payloads("status")).toEqual(sent);
});

it("takes logs of all four levels with logger, step and fields [XT-17]", async () => {
  const levels = ["debug", "info", "warning", "error"];
  const more = { logger: "train.distributed", step: 0, fields: { gpu_count: 4 } };
  await accept(...levels.map((level) => client.emit("log", { level, msg: `at ${level}`, ...more })));
  expect(rows("logs").map(({ level, msg, logger, step, fields }) => ({ level, msg, logger, step, fields }))).toEqual(
    levels.map((level) => ({ level, msg: `at ${level}`, logger: more.logger, step: 0n, fields: '{"gpu_count":4}' })),
  );
});

it("sends all seven commands and takes the answers [XT-18]", async () => {
  const orders = [
    { type: "pause" },
    { type: "resume" },
    { type: "stop" },
    { type: "checkpoint_now" },
    { type: "update_params", payload: { dropout: 0.1 } },
    { type: "adjust_lr", payload: { lr: 0.0001 } },
    { type: "custom", payload: { anything: ["at", "all"] } },
  ];
  await client.until(() => client.acks.length === 1);
  for (const order of orders)
    await collector.control.post({ workspace: "default", runId: "doc", author: "a", ...order });
  await client.until(() => client.commands.length === 7);
  expect(client.commands.map(({ p }) => ({ type: p["type"], payload: p["payload"] }))).toEqual(
    orders.map(({ type, payload }) => ({ type, payload: payload ?? {} })),
  );
  for (const [at, { p }] of client.commands.entries()) client.confirm(p["cmd_id"], at === 6 ? "error" : "ok", "no");
  const states = () =>
    collector.control.list("default", "doc").map(({ targets }) => targets.get("worker-0")?.state ?? "none");
  await client.until(() => states().every((state) => state !== "delivered" && state !== "queued"));
  expect(states()).toEqual([...Array(6).fill("confirmed"), "refused"]);
});

it("ignores unknown fields and keeps them, and keeps unknown types [XT-20, XT-21]", async () => {
  await accept(
    client.emit("metric", { key: "loss", value: 1, colour: "red" }),
    client.emit("telepathy", { thought: "…" }),
  );
  expect(rows("metrics")[0]?.["extra"]).toContain('"colour":"red"');
  expect(payloads("telepathy")).toEqual([{ run_id: "doc", thought: "…" }]);
  expect(rows("faults")).toEqual([]);
});

it("names what is wrong with an event in its ack and in a fault, and goes on [XT-22, XT-23, XT-24]", async () => {
  const wrong: [Envelope, string][] = [
    [client.emit("metric", { key: "loss" }), "p.value"],
    [client.emit("log", { level: "info" }), "p.msg"],
    [client.emit("checkpoint", { step: "many", path: "/c" }), "p.step"],
    [client.send({ ...client.toEvent("metric", { run_id: "doc", key: "k", value: 1 }), v: 2 }), "version 1"],
  ];
  client.socket.write(Buffer.concat([Buffer.from([0, 0, 0, 9]), Buffer.from("{not json")]));
  await accept(client.metric("loss", 1, 1));
  for (const [event, words] of wrong) {
    await client.until(() => ackOf(event) !== undefined);
    expect(ackOf(event)).toMatchObject({ status: "error", run_id: "doc", wid: "worker-0" });
    expect(ackOf(event)?.["error"]).toContain(words);
  }
  expect(rows("faults").length).toBe(wrong.length + 1);
});

it("reads frames that are split and joined anywhere, the document's own example too [XT-01, XT-03]", async () => {
  const example =
    '{"v":1,"t":"metric","m":{"seq":1,"ts":1703123456789000},"p":{"run_id":"abc","key":"loss","value":0.5}}';
  const bytes = Buffer.concat([encode(JSON.parse(example)), encode({ ...JSON.parse(example), m: { seq: 2, ts: 2 } })]);
  expect(bytes.readUInt32BE(0)).toBe(example.length);
  for (const byte of bytes) {
    client.socket.write(Buffer.of(byte));
    if (byte === 0x22) await new Promise(setImmediate);
  }
  await client.until(() => client.acks.filter(({ p }) => p["run_id"] === "abc").length === 2);
  expect(rows("metrics").map(({ key, value, seq }) => [key, value, seq])).toEqual([
    ["loss", 0.5, 1n],
    ["loss", 0.5, 2n],
  ]);
});
