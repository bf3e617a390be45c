import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { encodeFrame } from "#wire/xtrack/frames.testing.ts";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { readFewOfSweep } from "../support/few-of-sweep.ts";

const root = join(import.meta.dirname, "../..");
const walk = suiteApp();

beforeAll(async () => {
  await post("tests/fixtures/cirron/torch_stats/.cirron/spool", "/v1/runs/first/traces");
  await post("tests/fixtures/cirron/torch_full/.cirron/spool", "/v1/runs/second/traces");
  await walk.post("/v1/xtrack?wait=1", readFewOfSweep(), { "content-type": "application/octet-stream" });
});

async function post(folder: string, path: string): Promise<void> {
  for (const name of readdirSync(join(root, folder))) {
    const answer = await walk.post(`${path}?wait=1`, readFileSync(join(root, folder, name)));
    expect(answer.status).toBe(202);
  }
}

async function send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const init =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(walk.app.url + path, { method, ...init });
  return { status: response.status, body: await response.json() };
}

async function ids(query = ""): Promise<string[]> {
  const { body } = await walk.get(`/api/v1/runs${query}`);
  return (body as { runs: { id: string }[] }).runs.map((run) => run.id);
}

async function count(run: string): Promise<number> {
  const sql =
    "SELECT count() AS n FROM tributary.spans WHERE group_key IN (SELECT group_key FROM tributary.groups FINAL WHERE run_id = {run:String})";
  const [row] = await askStore<{ n: string }>(walk.app.collector.store, { sql, params: { run } });
  return Number(row?.n);
}

describe("runs that people change", () => {
  test("an edit stands beside what the client sent and survives a restart", async () => {
    const patched = await send("PATCH", "/api/v1/runs/first", { name: "my run", tags: ["good"], notes: "looks fine" });
    expect(patched.body).toMatchObject({ name: "my run", name_sent: "", tags: ["good"], notes: "looks fine" });
    await send("PATCH", "/api/v1/runs/first", { archived: true });
    expect(await ids("?filter=good")).toEqual([]);
    expect(await ids("?filter=good&archived=only")).toEqual(["first"]);
    await walk.reopen();
    expect((await walk.get("/api/v1/runs/first")).body).toMatchObject({ name: "my run", archived: true });
    await send("PATCH", "/api/v1/runs/first", { name: null, archived: false });
    expect((await walk.get("/api/v1/runs/first")).body).toMatchObject({ name: "first", notes: "looks fine" });
  });

  test("edits at the same time take nothing back from each other", async () => {
    const changes = [{ name: "at once" }, { notes: "three" }, { tags: ["of", "them"] }];
    await Promise.all(changes.map((change) => send("PATCH", "/api/v1/runs/second", change)));
    const { body } = await walk.get("/api/v1/runs/second");
    expect(body).toMatchObject({ name: "at once", notes: "three", tags: ["of", "them"] });
    await send("PATCH", "/api/v1/runs/second", { name: null, tags: null, notes: "" });
  });

  test("a deleted run is gone at once, and importing it again restores it", async () => {
    const spans = await count("second");
    expect(spans).toBe(76);
    expect((await send("DELETE", "/api/v1/runs/second")).status).toBe(200);
    expect((await walk.get("/api/v1/runs/second")).status).toBe(404);
    expect(await ids("?filter=id:second")).toEqual([]);
    await post("tests/fixtures/cirron/torch_full/.cirron/spool", "/v1/runs/second/traces");
    expect(await count("second")).toBe(76);
    expect(await count("first")).toBe(184);
    await walk.reopen();
    expect(await count("second")).toBe(76);
  });

  test("a file that came a moment before the deletion goes with its run", async () => {
    await post("tests/fixtures/cirron/torch_full/.cirron/spool", "/v1/runs/brief/traces");
    const path = "/v1/runs/brief/artifacts/model.bin";
    const put = await fetch(walk.app.url + path, { method: "PUT", body: "weights" });
    expect(put.status).toBe(201);
    expect((await send("DELETE", "/api/v1/runs/brief")).status).toBe(200);
    await walk.app.collector.drained();
    expect((await walk.get("/api/v1/runs/brief")).status).toBe(404);
    expect(await ids("?filter=id:brief")).toEqual([]);
  });

  test("what was accepted and is not stored yet goes with its run", async () => {
    const xtrack = { "content-type": "application/octet-stream" };
    await walk.post("/v1/xtrack?wait=1", encodeFrame("run_start", { seq: 1, ts: 1000 }, { run_id: "half" }), xtrack);
    const held = Promise.withResolvers<void>();
    const holding = walk.app.collector.writer.betweenPlans(() => held.promise);
    const path = join(root, "tests/fixtures/cirron/torch_full/.cirron/spool");
    const [name] = readdirSync(path);
    expect((await walk.post("/v1/runs/half/traces", readFileSync(join(path, name as string)))).status).toBe(202);
    const { sequencer } = walk.app.collector;
    const isApplied = () => sequencer.position.applied === sequencer.position.durable;
    await expect.poll(isApplied, { timeout: 60_000 }).toBe(true);
    const before = sequencer.position.applied;
    const deleting = send("DELETE", "/api/v1/runs/half");
    const isOrdered = expect.poll(() => sequencer.position.applied, { timeout: 60_000 }).toBeGreaterThan(before);
    await isOrdered.finally(held.resolve);
    await holding;
    expect((await deleting).status).toBe(200);
    expect((await walk.get("/api/v1/runs/half")).status).toBe(404);
    expect(await ids("?filter=id:half")).toEqual([]);
    await walk.app.collector.drained();
    await expect.poll(() => count("half"), { timeout: 60_000 }).toBe(0);
  });

  test("deleting by a filter asks for the number that was seen", async () => {
    const filter = "protocol:xtrack AND status:failed";
    const failed = await ids(`?filter=${encodeURIComponent(filter)}`);
    expect(failed).toHaveLength(1);
    const wrong = await send("POST", "/api/v1/runs/delete", { filter, expect: 7 });
    expect(wrong).toMatchObject({ status: 409, body: { code: "delete_changed" } });
    expect(await send("POST", "/api/v1/runs/delete", { filter, expect: 1 })).toMatchObject({ body: { deleted: 1 } });
    expect(await ids("?filter=protocol:xtrack")).toHaveLength(2);
  });

  test("the audit tells who did what", async () => {
    const rows = await askStore<{ action: string }>(walk.app.collector.store, {
      sql: "SELECT action FROM tributary.audit ORDER BY at_ns",
    });
    expect(new Set(rows.map((row) => row.action))).toEqual(new Set(["run_edited", "run_deleted"]));
  });
});

describe("what was just accepted", () => {
  test("a run can be asked for as soon as its records were accepted", async () => {
    const frame = encodeFrame("run_start", { seq: 1, ts: 1000 }, { run_id: "at-once" });
    await walk.post("/v1/xtrack", frame, { "content-type": "application/octet-stream" });
    expect((await walk.get("/api/v1/runs/at-once")).status).toBe(200);
  });
});

describe("the live stream", () => {
  test("goes on after the answer of a query, without missing or doubling anything", async () => {
    const { body } = await walk.get("/api/v1/runs?limit=1");
    const after = (body as { as_of: string }).as_of;
    const gone = new AbortController();
    const response = await fetch(`${walk.app.url}/api/v1/live?run=fresh&after=${after}`, { signal: gone.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const mark = {
      id: "a".repeat(32),
      span_id: "root",
      name: "loss",
      value_type: "float",
      value: 0.5,
      attrs: { step: 3 },
      ts_ns: 5,
    };
    const batch = {
      schema_version: 1,
      sdk_version: "t",
      batch_id: "b".repeat(32),
      created_ns: 1,
      spans: [],
      marks: [mark],
      snapshots: [],
    };
    await walk.post("/v1/runs/fresh/traces", JSON.stringify(batch));
    let text = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes("event: metrics") && text.includes("event: stats")) break;
    }
    gone.abort();
    const metrics = /event: metrics\ndata: (.*)\n/.exec(text)?.[1] as string;
    expect(JSON.parse(metrics)).toMatchObject({ run: "fresh", key: ["loss"], step: ["3"], value: [0.5], ts_ns: ["5"] });
    expect(text.match(/event: metrics/g)).toHaveLength(1);
  });
});
