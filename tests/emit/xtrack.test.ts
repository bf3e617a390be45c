// The XTrack side of the SDK over real sockets, read back by a reader written from the document.

import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { type Run, type RunOptions, startRun, type TransportOptions, withRun } from "../../src/emit/xtrack.ts";
import { makeFolder } from "../support/folder.ts";
import { startCollector, startWebCollector } from "./collector.ts";
import { type ReadEvent, readFrames } from "./read-frames.ts";

const quick = { source: false, env: false } as const;
const ofType = (events: ReadEvent[], type: string) => events.filter((event) => event.t === type);
const payloads = (events: ReadEvent[], type: string) => ofType(events, type).map((event) => event.p);

/** Every event of a run that writes to a file. */
async function recorded(work: (run: Run) => void | Promise<void>, options: RunOptions = {}): Promise<ReadEvent[]> {
  const path = `${makeFolder()}/events.bin`;
  const run = startRun({ id: "r", ...quick, transport: { kind: "file", path }, ...options });
  await work(run);
  await run.end();
  return readFrames(readFileSync(path));
}

describe("events", () => {
  it("frames compact JSON with a big-endian length, numbered from 1 without gaps [XT-01, XT-05, XT-06, XT-07, XT-26]", async () => {
    const before = Date.now() * 1000;
    const events = await recorded(
      (run) => {
        for (let i = 0; i < 100; i++) run.metric("loss", 1 / (i + 1), { step: i });
        run.log("info", "ünï 世界 🚀");
      },
      { workerId: "worker-0" },
    );
    expect(events.map((event) => event.m.seq)).toEqual(Array.from({ length: 104 }, (_, i) => i + 1));
    expect(events.every((event) => event.m.wid === "worker-0")).toBe(true);
    const times = events.map((event) => event.m.ts);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(before - 2000);
    expect(times.some((ts) => ts % 1000 !== 0)).toBe(true);
    expect(payloads(events, "log")[0].msg).toBe("ünï 世界 🚀");
    expect(events[0]?.t).toBe("run_start");
    expect(events.at(-1)?.t).toBe("run_end");
  });

  it("times events by the wall clock also after the machine has slept", async () => {
    const real = Date.now;
    const later = vi.spyOn(Date, "now").mockImplementation(() => real() + 8 * 3600_000);
    const [event] = await recorded(() => undefined).finally(() => later.mockRestore());
    expect(event?.m.ts).toBeGreaterThan((real() + 7 * 3600_000) * 1000);
  });

  it("starts a run with identity, name, tags, source and environment [XT-09]", async () => {
    const repo = makeFolder();
    mkdirSync(`${repo}/.git/refs/heads`, { recursive: true });
    writeFileSync(`${repo}/.git/HEAD`, "ref: refs/heads/main\n");
    writeFileSync(`${repo}/.git/refs/heads/main`, `${"ab".repeat(20)}\n`);
    writeFileSync(`${repo}/.git/config`, '[remote "origin"]\n\turl = https://user:token@example.org/x.git\n');
    writeFileSync(`${repo}/train.ts`, "code");
    const { readSource } = await import("../../src/emit/xtrack/origin.ts");
    const [start] = await recorded(() => undefined, {
      id: "run-1",
      experiment: "exp",
      parentId: "p",
      name: "name",
      tags: { team: "a" },
      source: { ...readSource(`${repo}/train.ts`) },
      env: undefined as never,
    });
    expect(start?.p).toMatchObject({
      run_id: { id: "run-1", exp_id: "exp", parent_id: "p" },
      name: "name",
      tags: { team: "a" },
      source: {
        git_commit: "ab".repeat(20),
        git_branch: "main",
        git_repo: "https://example.org/x.git",
        entrypoint: `${repo}/train.ts`,
        code_hash: `sha256:${createHash("sha256").update("code").digest("hex")}`,
      },
      env: { node_version: process.versions.node, hostname: expect.any(String) },
    });
    expect(start?.p.accepts).toBeUndefined();
  });

  it("makes an id when none is given", async () => {
    const [start] = await recorded(() => undefined, { id: undefined as never });
    expect(start?.p.run_id.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("ends a run with status, error, final metrics and duration [XT-10]", async () => {
    const end = (events: ReadEvent[]) => payloads(events, "run_end");
    const path = `${makeFolder()}/e.bin`;
    const run = startRun({ id: "r", ...quick, transport: { kind: "file", path } });
    await run.end({ finalMetrics: { val_loss: 0.1 } });
    run.metric("late", 1);
    await run.end({ status: "killed" });
    expect(run.health).toMatchObject({ late: 1 });
    expect(end(readFrames(readFileSync(path)))).toEqual([
      { run_id: "r", status: "completed", final_metrics: { val_loss: 0.1 }, duration_ms: expect.any(Number) },
    ]);
    const [failed] = end(await recorded((failing) => failing.fail(new RangeError("too far"))));
    expect(failed).toMatchObject({ status: "failed", error: { type: "RangeError", message: "too far" } });
    expect(failed.error.traceback).toContain("xtrack.test.ts");
    const [killed] = end(await recorded((stopped) => stopped.end({ status: "killed" })));
    expect(killed.status).toBe("killed");
  });

  it("sends one param event per leaf, with the path in nested_key [XT-11]", async () => {
    const events = await recorded((run) => run.param("seed", 7n), {
      params: {
        lr: 0.001,
        optimizer: { type: "adam", betas: [0.9, 0.999], deep: { "er.x": null } },
        empty: {},
        flag: true,
        text: "x",
      },
    });
    expect(payloads(events, "param").map(({ key, value, nested_key }) => [key, value, nested_key])).toEqual([
      ["lr", 0.001, undefined],
      ["optimizer", "adam", ["type"]],
      ["optimizer", [0.9, 0.999], ["betas"]],
      ["optimizer", null, ["deep", "er.x"]],
      ["flag", true, undefined],
      ["text", "x", undefined],
      ["seed", 7, undefined],
    ]);
  });

  it("sends metrics alone and in batches, with their place and context [XT-12, XT-13]", async () => {
    const events = await recorded((run) => {
      run.metric("loss", 0.5);
      run.metric("loss", 0.25, { step: 10, epoch: 1, phase: "train", batchSize: 32, datasetSize: 50_000, agg: "mean" });
      run.metric("ok", true, { ctx: { extra: [1] } });
      run.metricBatch({ loss: 0.5, acc: 0.9 }, { step: 3, epoch: 0, phase: "val" });
      run.metricBatch({});
    });
    expect(payloads(events, "metric")).toEqual([
      { run_id: "r", key: "loss", value: 0.5 },
      {
        run_id: "r",
        key: "loss",
        value: 0.25,
        step: 10,
        epoch: 1,
        ctx: { phase: "train", batch_size: 32, dataset_size: 50_000, agg: "mean" },
      },
      { run_id: "r", key: "ok", value: true, ctx: { extra: [1] } },
    ]);
    expect(payloads(events, "metric_batch")).toEqual([
      { run_id: "r", metrics: { loss: 0.5, acc: 0.9 }, step: 3, epoch: 0, ctx: { phase: "val" } },
      { run_id: "r", metrics: {} },
    ]);
  });

  it("writes non-finite metrics as the words Python's json reads", async () => {
    const path = `${makeFolder()}/e.bin`;
    const run = startRun({ ...quick, transport: { kind: "file", path } });
    run.metric("loss", Number.NaN);
    run.metric("loss", Number.NEGATIVE_INFINITY);
    await run.end();
    expect(readFileSync(path, "latin1")).toMatch(/"value":NaN.*"value":-Infinity/s);
  });

  it("registers artifacts with size and checksum, and without them when the file is missing [XT-14]", async () => {
    const folder = makeFolder();
    const file = `${folder}/model.bin`;
    for (let i = 0; i < 40; i++) appendFileSync(file, Buffer.alloc(100_000, i));
    const events = await recorded((run) => {
      void run.artifact(file, { type: "model", name: "best", meta: { format: "raw" } });
      void run.artifact(`${folder}/none.txt`);
      void run.artifact(folder, { type: "other", upload: "stream" });
    });
    const checksum = `sha256:${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
    const artifacts = payloads(events, "artifact").sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(artifacts).toEqual([
      { run_id: "r", path: folder, type: "other", upload: "stream" },
      {
        run_id: "r",
        path: file,
        type: "model",
        name: "best",
        meta: { format: "raw" },
        size: 4_000_000,
        checksum,
        upload: "reference",
      },
      { run_id: "r", path: `${folder}/none.txt`, upload: "reference" },
    ]);
    expect(events.at(-1)?.t).toBe("run_end");
  });

  it("sends checkpoints, status and logs with all their fields [XT-15, XT-16, XT-17]", async () => {
    const events = await recorded((run) => {
      run.checkpoint({ step: 1, path: "/ckpt/1.bin" });
      run.checkpoint({
        step: 2,
        path: "/ckpt/2.bin",
        epoch: 1,
        metrics: { val_loss: 0.1 },
        isBest: false,
        bestKey: "val_loss",
        meta: { full: true },
      });
      run.status("training", { msg: "Epoch 5/10", progress: { cur: 5, total: 10, unit: "epochs" } });
      run.status("evaluating");
      run.log("warning", "careful", { logger: "train", step: 0, fields: { gpu_count: 4 } });
      run.log("debug", "");
    });
    expect(payloads(events, "checkpoint")).toEqual([
      { run_id: "r", step: 1, path: "/ckpt/1.bin" },
      {
        run_id: "r",
        step: 2,
        path: "/ckpt/2.bin",
        epoch: 1,
        metrics: { val_loss: 0.1 },
        is_best: false,
        best_key: "val_loss",
        meta: { full: true },
      },
    ]);
    expect(payloads(events, "status").slice(1)).toEqual([
      { run_id: "r", status: "training", msg: "Epoch 5/10", progress: { cur: 5, total: 10, unit: "epochs" } },
      { run_id: "r", status: "evaluating" },
    ]);
    expect(payloads(events, "log")).toEqual([
      { run_id: "r", level: "warning", msg: "careful", logger: "train", step: 0, fields: { gpu_count: 4 } },
      { run_id: "r", level: "debug", msg: "" },
    ]);
  });

  it("fails a run whose work throws, and completes one whose work returns", async () => {
    const path = `${makeFolder()}/e.bin`;
    const options = { ...quick, transport: { kind: "file", path } } as const;
    expect(await withRun(options, () => 42)).toBe(42);
    await expect(
      withRun(options, async () => {
        throw new Error("mine");
      }),
    ).rejects.toThrow("mine");
    {
      await using run = startRun(options);
      run.metric("x", 1);
    }
    expect(payloads(readFrames(readFileSync(path)), "run_end").map((end) => end.status)).toEqual([
      "completed",
      "failed",
      "completed",
    ]);
  });

  it("survives values that cannot be read", async () => {
    const events = await recorded((run) => {
      const circular: Record<string, unknown> = {};
      circular["me"] = circular;
      run.param("circular", circular);
      run.param("fn", () => 1);
      run.log("info", undefined as unknown as string, { fields: { big: 2n ** 70n, when: new Date(0) } });
      run.metric(undefined as unknown as string, 1);
    }).catch((error: unknown) => error as Error);
    // The reader is strict and must refuse what breaks the tables; the SDK must not have thrown.
    expect(String(events)).toMatch(/field msg is required/);
  });
});

describe.each(["tcp", "unix", "ws"] as const)("over %s", (kind) => {
  async function start(options: Parameters<typeof startCollector>[0] = {}) {
    if (kind === "ws") {
      const { url, hub } = await startWebCollector(options);
      return {
        ...({ kind, url } as const),
        peers: hub.peers,
        events: hub.events,
        until: (c: () => boolean) => hub.until(c),
      };
    }
    const path = `${makeFolder()}/x.sock`;
    const collector = await startCollector(kind === "unix" ? { ...options, at: path } : options);
    const where = kind === "unix" ? { kind, path } : { kind, host: "127.0.0.1", port: collector.port };
    return { ...where, peers: collector.peers, events: collector.events, until: collector.until };
  }
  const begin = (collector: unknown, options: RunOptions = {}) =>
    startRun({ id: "r", ...quick, transport: collector as TransportOptions, ...options });

  it("asks for acks and commands, and is done when everything is confirmed [XT-19, XT-26]", async () => {
    const collector = await start();
    const run = begin(collector);
    for (let i = 0; i < 5000; i++) run.metric("loss", i, { step: i });
    await run.end();
    expect(collector.events[0]?.p.accepts).toEqual(["ack", "command"]);
    expect(collector.events).toHaveLength(5003);
    expect(run.health).toMatchObject({ confirmed: 5003, dropped: 0, waitingEvents: 0 });
  });

  it("sends everything unconfirmed again after a reconnect, with old numbers and times [XT-07]", async () => {
    let drops = 0;
    const collector = await start({
      confirms: (event) => event.m.seq <= 500 || drops >= 2,
      onEvent: (event, peer) => {
        if ((event.m.seq === 600 && drops === 0) || (event.m.seq === 900 && drops === 1)) {
          drops++;
          peer.drop();
        }
      },
    });
    const run = begin(collector, { workerId: "w" });
    for (let i = 0; i < 1500; i++) {
      run.metric("loss", i, { step: i });
      if (i % 100 === 0) await sleep(1);
    }
    await run.end();
    expect(drops).toBe(2);
    expect(collector.peers).toHaveLength(3);
    // Exactly once for whoever ignores what it knows: by (worker, seq, ts).
    const known = new Map(collector.events.map((event) => [`${event.m.seq} ${event.m.ts}`, event]));
    expect([...known.values()].map((event) => event.m.seq).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 1503 }, (_, i) => i + 1),
    );
    expect(collector.events.length).toBeGreaterThan(known.size);
    for (const peer of collector.peers) expect(peer.events[0]?.t).toBe("run_start");
    expect(run.health).toMatchObject({ confirmed: 1503, dropped: 0, unconfirmed: 0 });
  });

  it("obeys commands once and answers each with an ack that names it [XT-18]", async () => {
    const collector = await start();
    const seen: unknown[] = [];
    const run = begin(collector);
    run.on("pause", async () => {
      await sleep(5);
      seen.push("pause");
    });
    run.on("adjust_lr", ({ payload }) => void seen.push(payload["lr"]));
    run.on("stop", () => {
      throw new Error("not now");
    });
    await collector.until(() => collector.events.length >= 2);
    const [peer] = collector.peers as [(typeof collector.peers)[0]];
    peer.send("command", { cmd_id: "c1", type: "pause" });
    peer.send("command", { cmd_id: "c2", type: "adjust_lr", payload: { lr: 0.01 } });
    peer.send("command", { cmd_id: "c3", type: "stop", payload: {} });
    peer.send("command", { cmd_id: "c4", type: "checkpoint_now" });
    peer.send("command", { cmd_id: "c2", type: "adjust_lr", payload: { lr: 0.01 } });
    await collector.until(() => ofType(collector.events, "ack").length === 5);
    const answers = payloads(collector.events, "ack").map(
      ({ cmd_id, status, error }) => `${cmd_id} ${status} ${error}`,
    );
    expect(answers.sort()).toEqual([
      "c1 ok null",
      "c2 ok null",
      "c2 ok null",
      "c3 error not now",
      "c4 error this program does not handle checkpoint_now",
    ]);
    expect(seen).toEqual([0.01, "pause"]);
    expect(payloads(collector.events, "ack").every((ack) => ack.run_id === "r")).toBe(true);
    run.metric("after", 1);
    await run.end();
    expect(ofType(collector.events, "metric")[0]?.m.seq).toBe(3);
  });

  it("ends in time with a collector that never confirms anything", async () => {
    const collector = await start({ confirms: () => false });
    const run = begin(collector);
    run.metric("x", 1);
    const started = Date.now();
    await run.end();
    expect(Date.now() - started).toBeLessThan(4900);
    expect(collector.events.map((event) => event.t)).toEqual(["run_start", "status", "metric", "run_end"]);
  });
});
