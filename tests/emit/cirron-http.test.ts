// Batches over HTTP, against a server that behaves well, badly, or not at all.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { flush, health, mark, profile, scope, shutdown, snapshot } from "../../src/emit/cirron.ts";
import { makeFolder } from "../support/folder.ts";
import { type Answer, type RecordedRequest, startRecorder } from "./http-recorder.ts";
import { readBatch, readSpool } from "./read-spool.ts";
import { moduleUrl, startProgram } from "./sandbox.ts";

afterEach(() => shutdown({ timeoutMs: 100 }));

const taken: Answer = { status: 202 };
const posts = (requests: RecordedRequest[]) => requests.filter((request) => request.method === "POST");
const puts = (requests: RecordedRequest[]) => requests.filter((request) => request.method === "PUT");

describe("a batch", () => {
  it("is posted as specified: path, bearer, JSON, version, batch id, gzip from 1 KB [CT-26]", async () => {
    const server = await startRecorder(() => taken);
    const path = makeFolder();
    profile({ path, endpoint: server.url, apiKey: "ck_test" });
    mark("small", 1);
    flush();
    await server.until(() => posts(server.requests).length === 1);
    for (let i = 0; i < 100; i++) mark("large", i);
    await shutdown();
    const [small, large] = posts(server.requests) as [RecordedRequest, RecordedRequest];
    for (const request of [small, large]) {
      const batch = readBatch(request.body.toString());
      expect(request.path).toBe("/v1/traces");
      expect(request.headers).toMatchObject({
        authorization: "Bearer ck_test",
        "content-type": "application/json",
        "x-cirron-sdk-version": batch.sdk_version,
        "x-cirron-batch-id": batch.batch_id,
        "content-length": String(request.rawBody.length),
      });
    }
    expect(small.body.length).toBeLessThan(1024);
    expect(small.headers["content-encoding"]).toBeUndefined();
    expect(large.headers["content-encoding"]).toBe("gzip");
    expect(posts(server.requests).map((request) => request.body.toString())).toEqual(
      readdirSync(`${path}/spool`)
        .sort()
        .map((name) => readFileSync(`${path}/spool/${name}`, "utf8")),
    );
    expect(health().http).toEqual({ sent: 2, refused: 0, waiting: 0 });
  });

  it("goes to the path of the environment's or the option's choice, with the run in it", async () => {
    const server = await startRecorder(() => taken);
    profile({ path: makeFolder(), endpoint: `${server.url}/`, ingestPath: "v1/runs/my%20run/traces" });
    mark("x", 1);
    await shutdown();
    expect(server.requests[0]?.path).toBe("/v1/runs/my%20run/traces");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it("goes out after its blobs, which travel apart and leave their address in it [CT-27]", async () => {
    const server = await startRecorder((request) =>
      request.method === "PUT"
        ? {
            status: 201,
            headers: { Location: `/blobs/by-span${request.path.slice("/v1/traces/blobs/snapshots".length)}` },
          }
        : taken,
    );
    const path = makeFolder();
    profile({ path, endpoint: server.url, snapshots: "full" });
    scope("epoch", () => {
      snapshot({ w: Float32Array.of(1, 2) });
      snapshot({ "w.grad": Float32Array.of(3, 4) }, "gradients");
    });
    await shutdown();
    expect(server.requests.map((request) => request.method)).toEqual(["PUT", "PUT", "POST"]);
    const [put] = puts(server.requests) as [RecordedRequest];
    const { snapshots } = readBatch(
      (posts(server.requests)[0] as RecordedRequest).body.toString().replaceAll(server.url, "file:///x"),
    );
    const key = `snapshots/${snapshots[0]?.span_id}/weights.safetensors`;
    expect(put.path).toBe(`/v1/traces/blobs/${key}`);
    expect(put.headers).toMatchObject({ "content-type": "application/octet-stream", "x-cirron-blob-key": key });
    expect(put.body).toEqual(readFileSync(`${path}/${key}`));
    expect(snapshots.map((row) => row.blob_uri)).toEqual([
      `file:///x/blobs/by-span/${key.slice("snapshots/".length)}`,
      `file:///x/blobs/by-span/${snapshots[0]?.span_id}/gradients.safetensors`,
    ]);
    const spooled = readFileSync(`${path}/spool/${readdirSync(`${path}/spool`)[0]}`, "utf8");
    expect(spooled).toBe((posts(server.requests)[0] as RecordedRequest).body.toString());
  });

  it("goes out without its blob when the server refuses the blob", async () => {
    const server = await startRecorder((request) => (request.method === "PUT" ? { status: 413 } : taken));
    profile({ path: makeFolder(), endpoint: server.url, snapshots: "full" });
    snapshot({ w: Float32Array.of(1) });
    await shutdown();
    const { snapshots } = readBatch((posts(server.requests)[0] as RecordedRequest).body.toString());
    expect(snapshots[0]?.blob_uri).toMatch(/^file:/);
  });
});

describe("trouble", () => {
  it("is not made by an address that means nothing", async () => {
    const moved = { status: 307, headers: { Location: "http://[" } };
    const server = await startRecorder(({ method }, count) =>
      method === "PUT" ? { ...moved, status: 201 } : count === 2 ? moved : taken,
    );
    profile({ path: makeFolder(), endpoint: server.url, snapshots: "full" });
    snapshot({ w: Float32Array.of(1) });
    await shutdown();
    expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "POST", "POST"]);
    const address = `"blob_uri":"${server.url}${puts(server.requests)[0]?.path}"`;
    expect(posts(server.requests)[1]?.body.toString()).toContain(address);
    expect(health().http).toEqual({ sent: 1, refused: 0, waiting: 0 });
  });

  it("waits as long as Retry-After says, then sends the same bytes again [CT-30]", async () => {
    const server = await startRecorder((_, count) =>
      count === 1 ? { status: 429, headers: { "Retry-After": "0.6" } } : taken,
    );
    profile({ path: makeFolder(), endpoint: server.url, apiKey: "k" });
    mark("x", 1);
    flush();
    await server.until(() => server.requests.length === 2);
    const [first, second] = server.requests as [RecordedRequest, RecordedRequest];
    expect(second.atMs - first.atMs).toBeGreaterThan(550);
    expect(second.rawBody).toEqual(first.rawBody);
    expect(second.headers["x-cirron-batch-id"]).toBe(first.headers["x-cirron-batch-id"]);
  });

  it("backs off exponentially when the server is in trouble", async () => {
    const server = await startRecorder((_, count) => (count <= 2 ? { status: 503 } : taken));
    profile({ path: makeFolder(), endpoint: server.url });
    mark("x", 1);
    flush();
    await server.until(() => server.requests.length === 3);
    const [a, b, c] = server.requests.map((request) => request.atMs) as [number, number, number];
    expect(b - a).toBeGreaterThan(950);
    expect(b - a).toBeLessThan(6000);
    expect(c - b).toBeGreaterThan(1950);
    expect(c - b).toBeLessThan(8000);
  });

  it("says once that a key is refused, or that the spool cannot be written", async () => {
    const server = await startRecorder(() => ({ status: 401 }));
    const program = (
      path: string,
    ) => `import { mark, profile, shutdown } from ${JSON.stringify(moduleUrl("src/emit/cirron.ts"))};
      profile({ path: ${JSON.stringify(path)}, endpoint: ${JSON.stringify(server.url)} });
      mark("x", 1); await shutdown({ timeoutMs: 500 });`;
    const folder = makeFolder();
    const refused = await startProgram(folder, program("traces")).ended;
    const url = `${server.url}/v1/traces`;
    expect(refused).toMatchObject({
      code: 0,
      stderr: `tributary: ${url} answers 401; what it did not take is in ${folder}/traces/spool\n`,
    });
    const unwritable = await startProgram(folder, program("/proc/none")).ended;
    expect(unwritable).toMatchObject({ code: 0, stderr: "tributary: cannot write to /proc/none/spool (ENOENT)\n" });
  });

  it("keeps a refused batch in the spool and goes on with the next", async () => {
    const server = await startRecorder((_, count) => (count === 1 ? { status: 400 } : taken));
    const path = makeFolder();
    profile({ path, endpoint: server.url });
    mark("bad", 1);
    flush();
    await server.until(() => server.requests.length === 1);
    mark("good", 1);
    await shutdown();
    expect(health().http).toEqual({ sent: 1, refused: 1, waiting: 0 });
    expect(readSpool(path).files).toHaveLength(2);
  });

  it("gives up waiting at shutdown and leaves the rest in the spool", async () => {
    const server = await startRecorder(() => ({ status: 500 }));
    const path = makeFolder();
    profile({ path, endpoint: server.url });
    mark("x", 1);
    const started = Date.now();
    await shutdown({ timeoutMs: 2500 });
    expect(Date.now() - started).toBeLessThan(10_000);
    expect(health().http).toMatchObject({ sent: 0, waiting: 1 });
    expect(readSpool(path).files).toHaveLength(1);
  });
});

describe("the spool", () => {
  it("is sent later: what an offline program left goes out with the next one, once", async () => {
    const path = makeFolder();
    profile({ path });
    mark("offline", 1);
    await shutdown();
    const server = await startRecorder(() => taken);
    for (const name of ["online", "again"]) {
      profile({ path, endpoint: server.url });
      mark(name, 1);
      await shutdown();
    }
    const sent = posts(server.requests).map((request) => readBatch(request.body.toString()).marks[0]?.name);
    expect(sent.sort()).toEqual(["again", "offline", "online"]);
    expect(readSpool(path).files).toHaveLength(3);
  });

  it("never makes the sender read a file outside the snapshot folder", async () => {
    const path = makeFolder();
    const secret = `${path}/secret.txt`;
    writeFileSync(secret, "secret");
    mkdirSync(`${path}/spool`, { recursive: true });
    const id = "0".repeat(32);
    const batch = `{"schema_version":1,"sdk_version":"0","batch_id":"${id}","created_ns":1,"spans":[],"marks":[],"snapshots":[{"blob_uri":"file://${path}/snapshots/../secret.txt"},{"blob_uri":"file://${secret}"},{"blob_uri":"file://another/weights"},{"blob_uri":"file:///%2f"}]}`;
    writeFileSync(`${path}/spool/00000000000000000001-${id}.json`, batch);
    const server = await startRecorder(() => taken);
    profile({ path, endpoint: server.url });
    await shutdown();
    expect(puts(server.requests)).toEqual([]);
    expect(posts(server.requests).some((request) => request.body.toString() === batch)).toBe(true);
  });

  it("is sent while a program computes without ever yielding", async () => {
    const server = await startRecorder(() => taken);
    const folder = makeFolder();
    const child = startProgram(
      folder,
      `import { profile, mark } from ${JSON.stringify(moduleUrl("src/emit/cirron.ts"))};
       profile({ endpoint: ${JSON.stringify(server.url)}, flushIntervalMs: 50 });
       for (;;) { mark("x", 1); for (let i = 0; i < 1e5; i++); }`,
    );
    await server.until(() => posts(server.requests).length >= 5);
    child.kill("SIGKILL");
    await child.ended;
    for (const request of posts(server.requests)) readBatch(request.body.toString());
  });
});

it("waits for the server at the end, also when it may take longer than any timer runs", async () => {
  const server = await startRecorder(() => taken);
  profile({ path: makeFolder(), endpoint: server.url });
  mark("x", 1);
  await shutdown({ timeoutMs: 2 ** 33 });
  expect(health().http).toEqual({ sent: 1, refused: 0, waiting: 0 });
});
