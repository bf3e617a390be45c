import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { suiteApp } from "../support/app.ts";
import { askStore } from "../support/ask-store.ts";
import { hex, toBatchText } from "../support/cirron-batch.ts";

const root = join(import.meta.dirname, "../..");
const recorded = join(root, "tests/fixtures/cirron/http_ok/recorded");
const walk = suiteApp();

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: [string, string][];
  readonly body_file: string;
}

const hop = new Set(["host", "connection", "content-length"]);

test("the requests of the real SDK are taken as they were sent, blobs before their batch [CT-27] [CT-38]", async () => {
  const lines = readFileSync(join(recorded, "requests.jsonl"), "utf8").trim().split("\n");
  for (const line of lines) {
    const { method, path, headers, body_file } = JSON.parse(line) as Recorded;
    const body = readFileSync(join(recorded, body_file));
    const sent = Object.fromEntries(headers.filter(([name]) => !hop.has(name.toLowerCase())));
    const response = await fetch(walk.app.url + path, { method, headers: sent, body });
    expect(response.status).toBe(method === "PUT" ? 201 : 202);
    if (method === "PUT") expect(response.headers.get("location")).toMatch(/\/v1\/traces\/blobs\/snapshots\//);
  }
  await walk.app.collector.drained();
  const runs = (await walk.get("/api/v1/runs")).body as { runs: { id: string }[] };
  const run = runs.runs[0]?.id as string;
  const span = "c3e314c15660b26b04f7472777f6704c";
  const rows = await askStore<{ object_key: string; kind: string }>(walk.app.collector.store, {
    sql: "SELECT object_key, kind FROM tributary.blobs FINAL WHERE span_id = {span:String} ORDER BY kind",
    params: { span },
  });
  expect(rows.map((row) => row.kind)).toEqual(["gradients", "weights"]);
  for (const row of rows) {
    // The run in the path is the one that was first known; it stays a name of the run for ever.
    const [, , named] = row.object_key.split("/");
    expect(row.object_key).toBe(`traces/default/${named}/${span}/${row.kind}.safetensors`);
    expect((await walk.get(`/api/v1/runs/${named}`)).body).toMatchObject({ id: run });
    expect(existsSync(join(walk.dataDir, "blobs", row.object_key))).toBe(true);
  }
});

test("values come out of a blob, a gradient's under the name of its parameter [CT-17]", async () => {
  const { runs } = (await walk.get("/api/v1/runs")).body as { runs: { id: string }[] };
  const base = `/api/v1/runs/${runs[0]?.id}/snapshots`;
  const { tensors } = (await walk.get(base)).body as { tensors: { tensor: string; kind: string }[] };
  for (const kind of ["weight", "gradient"]) {
    const { tensor } = tensors.find((one) => one.kind === kind) as { tensor: string };
    const path = `${base}/${encodeURIComponent(tensor)}`;
    const { rows } = (await walk.get(path)).body as {
      rows: { id: string; blob_stored: boolean; mean: number; min: number }[];
    };
    const row = rows.find((one) => one.blob_stored) as (typeof rows)[number];
    const answer = await walk.get(`${path}/values?snapshot=${row.id}&bins=8&limit=100000`);
    const { values, total, histogram } = answer.body as {
      values: number[];
      total: number;
      histogram: { counts: number[] };
    };
    expect(values).toHaveLength(total);
    expect(values.reduce((sum, value) => sum + value, 0) / total).toBeCloseTo(row.mean, 5);
    expect(Math.min(...values)).toBeCloseTo(row.min, 5);
    expect(histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(total);
  }
});

test("a blob can be had where its answer says, at once", async () => {
  const url = `${walk.app.url}/v1/traces/blobs/snapshots/${"ab".repeat(16)}/weights.safetensors`;
  const put = await fetch(url, { method: "PUT", body: "new" });
  expect(await (await fetch(put.headers.get("location") as string)).text()).toBe("new");
});

test("the same key again is a success and leaves the first content; other content is a fault with its bytes", async () => {
  const key = "snapshots/c3e314c15660b26b04f7472777f6704c/weights.safetensors";
  const before = await (await fetch(`${walk.app.url}/v1/traces/blobs/${key}`)).arrayBuffer();
  const again = await fetch(`${walk.app.url}/v1/traces/blobs/${key}`, { method: "PUT", body: "something else" });
  expect(again.status).toBe(201);
  const after = await (await fetch(`${walk.app.url}/v1/traces/blobs/${key}`)).arrayBuffer();
  expect(Buffer.from(after).equals(Buffer.from(before))).toBe(true);
  expect(await again.json()).toMatchObject({ size_bytes: before.byteLength });
  await fetch(`${walk.app.url}/v1/traces/blobs/${key}`, { method: "PUT", body: new Uint8Array(before) });
  await walk.app.collector.drained();
  const { faults } = (await walk.get("/api/v1/faults?code=identity_conflict")).body as {
    faults: { detail: string; raw_base64: string }[];
  };
  expect(faults).toHaveLength(1);
  expect(faults[0]?.detail).toContain(`kept ${before.byteLength} bytes`);
  expect(Buffer.from(faults[0]?.raw_base64 as string, "base64").toString()).toBe("something else");
  const sql =
    "SELECT size FROM tributary.blobs FINAL WHERE span_id = 'c3e314c15660b26b04f7472777f6704c' AND kind = 'weights'";
  expect(await askStore<{ size: string }>(walk.app.collector.store, { sql, params: {} })).toEqual([
    { size: String(before.byteLength) },
  ]);
});

test("a key that names no blob gets an error that says how one looks", async () => {
  const response = await fetch(`${walk.app.url}/v1/traces/blobs/../../etc/passwd%00`, { method: "PUT", body: "x" });
  expect([400, 404]).toContain(response.status);
  const odd = await fetch(`${walk.app.url}/v1/traces/blobs/other/thing.bin`, { method: "PUT", body: "x" });
  expect(odd.status).toBe(400);
  expect(await odd.json()).toMatchObject({ code: "blob_key_invalid" });
});

test("a file stored for a run is listed and downloads as an attachment", async () => {
  const { runs } = (await walk.get("/api/v1/runs")).body as { runs: { id: string }[] };
  const run = runs[0]?.id as string;
  const bytes = Buffer.from("<script>alert(1)</script>");
  const stored = await fetch(`${walk.app.url}/v1/runs/${run}/artifacts/page.html`, { method: "PUT", body: bytes });
  expect(stored.status).toBe(201);
  await walk.app.collector.drained();
  const { artifacts } = (await walk.get(`/api/v1/runs/${run}/artifacts`)).body as { artifacts: unknown[] };
  expect(artifacts).toEqual([expect.objectContaining({ name: "page.html", stored: true, size_bytes: "25" })]);
  const got = await fetch(`${walk.app.url}/api/v1/runs/${run}/artifacts/page.html`);
  expect(got.headers.get("content-disposition")).toMatch(/^attachment/);
  expect(got.headers.get("content-security-policy")).toContain("sandbox");
  expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  const gone = await fetch(`${walk.app.url}/api/v1/runs/${run}`, { method: "DELETE" });
  expect(gone.status).toBe(200);
  await walk.app.collector.drained();
  await walk.reopen();
  // A deletion that the end of a server interrupted goes on while the next one works.
  const left = () => [
    ...readdirSync(join(walk.dataDir, "blobs/traces/default"), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith("safetensors")),
    ...[join(walk.dataDir, "blobs/artifacts/default", run)].filter((path) => existsSync(path)),
  ];
  await expect.poll(left, { timeout: 60_000 }).toEqual([]);
});

test("a run that is deleted right after a file came for it is gone, and stays gone after a restart", async () => {
  const runs = Array.from({ length: 6 }, (_, at) => `short-lived-${at}`);
  for (const run of runs) {
    const spans = toBatchText(run, [{ id: run, parent: null, name: "step", at: 1 }]);
    expect((await walk.post(`/v1/runs/${run}/traces?wait=1`, spans)).status).toBe(202);
    const put = await fetch(`${walk.app.url}/v1/runs/${run}/artifacts/model.bin`, { method: "PUT", body: "weights" });
    expect(put.status).toBe(201);
    expect((await fetch(`${walk.app.url}/api/v1/runs/${run}`, { method: "DELETE" })).status).toBe(200);
  }
  const states = async () => {
    await walk.app.collector.drained();
    return Promise.all(runs.map(async (run) => (await walk.get(`/api/v1/runs/${run}`)).status));
  };
  expect(await states()).toEqual(runs.map(() => 404));
  await walk.reopen();
  expect(await states()).toEqual(runs.map(() => 404));
  for (const run of runs) expect(existsSync(join(walk.dataDir, "blobs/artifacts/default", run))).toBe(false);
});

test("a tensor of a span that came before a restart is stored beside its run", async () => {
  const span = hex("before");
  await walk.post(
    "/v1/runs/restarted/traces",
    toBatchText("before", [{ id: "before", parent: null, name: "step", at: 1 }]),
  );
  await walk.app.collector.drained();
  await walk.reopen();
  const path = `/v1/traces/blobs/snapshots/${span}/weights.safetensors`;
  expect((await fetch(walk.app.url + path, { method: "PUT", body: "tensor" })).status).toBe(201);
  await walk.app.collector.drained();
  const sql = "SELECT object_key FROM tributary.blobs FINAL WHERE span_id = {span:String}";
  const rows = await askStore<{ object_key: string }>(walk.app.collector.store, { sql, params: { span } });
  expect(rows).toEqual([{ object_key: `traces/default/restarted/${span}/weights.safetensors` }]);
});

test("a blob that is moved between being found and being read is read where it is then", async () => {
  const { blobs } = walk.app.collector;
  const url = `${walk.app.url}/v1/traces/blobs/snapshots/${hex("away")}/weights.safetensors`;
  expect((await fetch(url, { method: "PUT", body: "moved away" })).status).toBe(201);
  const read = blobs.read.bind(blobs);
  const spy = vi.spyOn(blobs, "read").mockImplementationOnce((key) => {
    // What reading it comes to when its key has just become another one.
    return read(`${key}.gone`);
  });
  const got = await fetch(url);
  expect([got.status, await got.text(), spy.mock.calls.length]).toEqual([200, "moved away", 2]);
  spy.mockRestore();
});

test("a blob that is sent again while it is moved to its run is taken, and can be had", async () => {
  for (let round = 0; round < 15; round++) {
    const id = `moved ${round}`;
    const url = `${walk.app.url}/v1/traces/blobs/snapshots/${hex(id)}/weights.safetensors`;
    const put = () => fetch(url, { method: "PUT", body: "the same" }).then(({ status }) => status);
    const batch = toBatchText(id, [{ id, parent: null, name: "cirron.session", at: round }]);
    expect(await put()).toBe(201);
    const posted = walk.post("/v1/traces", batch).then(({ status }) => status);
    expect(await Promise.all([posted, put(), put(), put()])).toEqual([202, 201, 201, 201]);
    await expect.poll(async () => (await fetch(url)).text(), { timeout: 5000 }).toBe("the same");
  }
});
