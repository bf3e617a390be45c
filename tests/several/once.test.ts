// The same records at two collectors: once in every answer. And what is deleted at one is gone at the other.

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRun } from "#emit/xtrack.ts";
import { someResource, someSpan, tracesOf } from "#wire/otlp/fixture.testing.ts";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import type { TestApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { type BatchSpan, hex, toBatchText } from "../support/cirron-batch.ts";
import { eventually, type NatsServer, natsPath, openPair, type Pair } from "../support/several.ts";

let pair: Pair;
let nats: NatsServer;
let a: TestApp;
let b: TestApp;

const both = <T>(task: (app: TestApp) => Promise<T>): Promise<[T, T]> => Promise.all([task(a), task(b)]);
const postBatch = async (app: TestApp, run: string, body: string) => {
  const { status } = await app.post(`/v1/runs/${run}/traces?wait=1`, body);
  expect(status).toBe(202);
};
const frames = { "content-type": "application/octet-stream" };
const countsOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}`)).body as { counts?: Record<string, number> }).counts ?? {};
const pointsOf = async (app: TestApp, run: string) =>
  ((await app.get(`/api/v1/runs/${run}/metrics`)).body as { metrics?: { count: number }[] }).metrics?.[0]?.count;
const sizeOf = async (app: TestApp, run: string) => {
  const counts = await countsOf(app, run);
  return [counts["spans"], counts["marks"], await pointsOf(app, run)];
};
/** How many records the list of events has, and how often a span is exported. */
const recordsOf = async (app: TestApp, run: string, span: string) => {
  const { body } = await app.get(`/api/v1/runs/${run}/events?limit=100`);
  const text = await (await fetch(`${app.app.url}/api/v1/runs/${run}/export?format=jsonl`)).text();
  const exported = [...text.matchAll(/"id": ?"(\w+)"/g)].filter(([, id]) => id === hex(span));
  return { listed: (body as { events: unknown[] }).events.length, exported: exported.length };
};
/** One step more of a session. */
const batchOf = (id: string, parent: string) => toBatchText(id, [{ id: `of-${id}`, parent, name: "step", at: 90 }]);
const rowsIn = async (table: string, where: string) => {
  const sql = `SELECT count() AS n FROM tributary.${table} WHERE ${where}`;
  return Number((await askStore<{ n: string }>(a.app.collector.store, { sql }))[0]?.n);
};

describe.skipIf(natsPath === undefined)("the same records at two collectors", () => {
  beforeAll(async () => {
    pair = await openPair();
    ({ nats, a, b } = pair);
  });
  afterAll(() => pair?.remove());

  test("a Cirron batch posted to both at one moment is there once in every answer", async () => {
    const body = toBatchText("at-once", [
      { id: "root1", parent: null, name: "cirron.session", at: 0 },
      { id: "step1", parent: "root1", name: "step", at: 1 },
    ]);
    await both((app) => postBatch(app, "at-once", body));
    for (const app of [a, b]) {
      expect(await countsOf(app, "at-once")).toMatchObject({ spans: 2, marks: 2 });
      expect(await pointsOf(app, "at-once")).toBe(2);
      const spans = (await app.get("/api/v1/runs/at-once/spans")).body;
      expect(JSON.stringify(spans).split(hex("step1")).length - 1).toBeLessThanOrEqual(1);
    }
  });

  test("a batch that comes again at the other collector is known there", async () => {
    const body = toBatchText("later", [{ id: "root2", parent: null, name: "cirron.session", at: 0 }]);
    await postBatch(a, "later", body);
    await eventually(
      async () => b.app.collector.applier.state.cirron.of("default").ledger.mayBeStored(hex("later")),
      "b did not hear of it",
    );
    await postBatch(b, "later", body);
    await b.app.collector.drained();
    expect(await rowsIn("spans", `span_id = '${hex("root2")}'`)).toBe(1);
  });

  test("batches of one session at two collectors are one run", async () => {
    const root = { id: "root3", parent: null, name: "cirron.session", at: 0 };
    const step = (at: number) => ({ id: `s3-${at}`, parent: "root3", name: "step", at });
    const post = (app: TestApp, id: string, spans: BatchSpan[]) =>
      app.post("/v1/traces?wait=1", toBatchText(id, spans));
    await post(a, "s3-a", [step(1)]);
    await post(b, "s3-b", [step(2)]);
    await post(a, "s3-c", [step(3)]);
    await post(b, "s3-d", [root]);
    for (const app of [a, b])
      await eventually(
        async () => (await countsOf(app, hex("root3")))["spans"] === 4,
        "it is not one run of four spans",
      );
  });

  test("copies under two keys, taken while nobody could hear, are shown once, found and removed", async () => {
    await nats.kill();
    const root = { id: "root4", parent: null, name: "cirron.session", at: 0 };
    const step = { id: "step4", parent: "root4", name: "step", at: 1 };
    await postBatch(a, "apart", toBatchText("apart-1", [root]));
    const second = toBatchText("apart-2", [step]);
    await both((app) => postBatch(app, "apart", second));
    expect(await rowsIn("spans", `span_id = '${hex("step4")}'`)).toBe(2);
    for (const app of [a, b]) {
      expect(await sizeOf(app, "apart")).toEqual([2, 2, 2]);
      expect(await recordsOf(app, "apart", "step4")).toEqual({ listed: 4, exported: 1 });
    }
    await nats.start();
    await eventually(async () => (await rowsIn("spans", `span_id = '${hex("step4")}'`)) === 1, "the copy is there");
    for (const app of [a, b]) {
      await eventually(
        async () => JSON.stringify(await sizeOf(app, "apart")) === "[2,2,2]",
        "the run has not two spans, marks and points",
      );
    }
  });

  test("copies under one key that the engine has merged already stay when collectors hear of each other", async () => {
    await nats.kill();
    const root = { id: "root5", parent: null, name: "cirron.session", at: 0 };
    const steps = Array.from({ length: 20 }, (_, at) => ({ id: `step5-${at}`, parent: "root5", name: "step", at }));
    const first = toBatchText("merged-1", [root, ...steps]);
    await postBatch(a, "merged", first);
    await postBatch(b, "merged", first);
    // An ordinary merge, of some tables and not of others.
    for (const table of ["metrics", "spans"])
      await a.app.collector.store.ddl(`OPTIMIZE TABLE tributary.${table} FINAL`);
    await nats.start();
    // Both make the session anew out of what the store has when they hear of the other's part of it.
    await both((app) => postBatch(app, "merged", batchOf(`merged-${app === a ? 2 : 3}`, "root5")));
    for (const app of [a, b])
      await eventually(
        async () => JSON.stringify(await sizeOf(app, "merged")) === "[23,23,23]",
        "the run has not 23 spans, marks and points",
      );
  });

  test("XTrack frames, trace lines and OTLP spans sent to both are there once", async () => {
    const at = (seq: number) => ({ seq, ts: 1794710321102255 + seq, wid: "w" });
    const body = Buffer.concat([
      encodeFrame("run_start", at(1), { run_id: "twice" }),
      ...Array.from({ length: 50 }, (_, i) =>
        encodeFrame("metric", at(i + 2), { run_id: "twice", key: "loss", value: i, step: i }),
      ),
      encodeFrame("log", at(60), { run_id: "twice", level: "INFO", msg: "hello" }),
    ]);
    await both((app) => app.post("/v1/xtrack?wait=1", body, frames));
    const name = "tests/fixtures/semantiva/plain_file";
    const lines = await readFixture(name);
    await both((app) => app.post("/v1/trace-stream?wait=1", lines, { "content-type": "application/x-ndjson" }));
    const spans = tracesOf([someSpan(1), someSpan(2)], { ...someResource, "nemo.run.id": "spans-twice" });
    await both((app) => app.post("/v1/otlp/v1/traces?wait=1", JSON.stringify(spans)));
    await both((app) => app.app.collector.drained());
    for (const app of [a, b]) {
      expect(await countsOf(app, "spans-twice")).toMatchObject({ spans: 2 });
      expect(await pointsOf(app, "twice")).toBe(50);
      expect(await countsOf(app, "twice")).toMatchObject({ logs: 1 });
      const { body: list } = await app.get("/api/v1/runs?limit=100");
      const run = (list as { runs: { id: string; missing?: number }[] }).runs.find(({ id }) => id === "twice");
      expect(run).toBeDefined();
      const { body: gaps } = await app.get("/api/v1/runs/twice/gaps");
      expect(gaps).toMatchObject({ missing: 8 });
    }
    const nodes = await both(async (app) => {
      const { body: runs } = await app.get("/api/v1/runs?limit=100");
      const pipeline = (runs as { runs: { id: string; protocols: string[] }[] }).runs.find(({ protocols }) =>
        protocols.includes("semantiva"),
      );
      return (await countsOf(app, pipeline?.id ?? ""))["nodes"];
    });
    expect(nodes).toEqual([nodes[0], nodes[0]]);
    expect(nodes[0]).toBe(lines.toString().split('"record_type": "ser"').length - 1);
  });

  test("a run deleted at one is gone at the other, and what its job sends after starts it anew", async () => {
    const port = Number(b.app.xtrack[0]?.split(":").at(-1));
    const run = startRun({
      id: "doomed",
      workerId: "w0",
      transport: { kind: "tcp", host: "127.0.0.1", port },
      source: false,
      env: false,
    });
    for (let step = 1; step <= 10; step++) run.metric("loss", step, { step });
    await eventually(async () => (await pointsOf(a, "doomed")) === 10, "the run did not come");
    const deleted = await fetch(`${a.app.url}/api/v1/runs/doomed`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect((await b.get("/api/v1/runs/doomed")).status).toBe(404);
    run.metric("loss", 11, { step: 11 });
    for (const app of [a, b])
      await eventually(async () => (await pointsOf(app, "doomed")) === 1, "it did not start anew");
    run.metric("loss", 12, { step: 12 });
    for (const app of [a, b])
      await eventually(async () => (await pointsOf(app, "doomed")) === 2, "something deleted came back");
    await run.end({ timeoutMs: 3000 });
  });
});

async function readFixture(folder: string): Promise<Buffer> {
  const { readdir } = await import("node:fs/promises");
  const root = new URL(`../../${folder}/`, import.meta.url);
  const [file] = (await readdir(root)).filter((name) => name.endsWith(".jsonl"));
  return readFile(new URL(file as string, root));
}
