import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type OpenServer, openServer } from "./open-server.testing.ts";
import { sendRaw } from "./raw-request.testing.ts";

const open: OpenServer[] = [];
async function start(...args: Parameters<typeof openServer>): Promise<OpenServer> {
  const started = await openServer(...args);
  open.push(started);
  return started;
}
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const batch =
  '{"schema_version":1,"sdk_version":"1","batch_id":"0123456789abcdef0123456789abcdef","created_ns":1,"spans":[],"marks":[],"snapshots":[]}';
const post = (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(url, { method: "POST", body: body as never, headers });

/** Begins a request that the server takes up, and goes away in the middle of its body. */
async function sendPart({ server }: OpenServer, request: string, part: string): Promise<void> {
  const socket = connect(server.address.port, "127.0.0.1");
  const head = ["Host: localhost", "Content-Length: 1000", "Expect: 100-continue"];
  socket.write(`${[`${request} HTTP/1.1`, ...head].join("\r\n")}\r\n\r\n`);
  await once(socket, "data");
  await new Promise<void>((resolve) => socket.write(part, () => resolve()));
  socket.destroy();
}

describe("a Cirron batch", () => {
  it("is answered 202 with its id, on each of the three paths and with a trailing slash [CT-26, CT-28]", async () => {
    const { url, inputs } = await start();
    const paths = ["/v1/traces", "/v1/traces/", "/api/traces", "/api/traces/", "/v1/runs/my%2Frun/traces/"];
    for (const path of paths) {
      const answer = await post(url + path, batch, { "content-type": "application/json" });
      expect([path, answer.status]).toEqual([path, 202]);
      expect(await answer.json()).toEqual({ batch_id: "0123456789abcdef0123456789abcdef" });
    }
    expect(inputs.map((input) => input.runOverride)).toEqual([null, null, null, null, "my/run"]);
  });

  it("is waited for where it was applied, when the sender wants to query it", async () => {
    const started = await start();
    await post(`${started.url}/v1/traces`, batch);
    // One that is put off is applied at another place of the journal.
    started.respond = async () => ({ position: 7, accepted: 1, duplicates: 0, faults: [] });
    await post(`${started.url}/v1/traces?wait=1`, batch);
    expect(started.waits).toEqual(["durable", "applied", "queryable 7"]);
  });

  it("gives its memory back once it is applied and answered, whichever comes first", async () => {
    const one = await start();
    const large = batch.padEnd(200_000);
    const lengthAfterRound = async (): Promise<number | undefined> => {
      await new Promise((resolve) => setImmediate(resolve));
      return one.inputs.at(-1)?.body.length;
    };
    const send = () => post(`${one.url}/v1/traces`, gzipSync(large), { "content-encoding": "gzip" });
    expect((await send()).status).toBe(202);
    expect(await lengthAfterRound()).toBe(large.length);
    one.applied[0]?.();
    expect(await lengthAfterRound()).toBe(0);
    one.respond = async () => {
      one.applied[1]?.();
      expect(await lengthAfterRound()).toBe(large.length);
      return { position: 2, accepted: 1, duplicates: 0, faults: [] };
    };
    expect((await send()).status).toBe(202);
    expect(await lengthAfterRound()).toBe(0);
  });

  it("may be gzip or plain, with any content type or none, and arrives as the same bytes", async () => {
    const { url, server, inputs } = await start();
    await post(`${url}/v1/traces`, batch, { "content-type": "text/plain" });
    await post(`${url}/v1/traces`, gzipSync(batch), { "content-encoding": "gzip" });
    await sendRaw(
      server.address.port,
      `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${batch.length}\r\n\r\n${batch}`,
    );
    expect(inputs.map((input) => Buffer.from(input.body).toString())).toEqual([batch, batch, batch]);
  });

  it("gets 429 with Retry-After when there is no room, and nothing is taken [CT-30]", async () => {
    const one = await start();
    one.respond = async () => ({ busy: true, retryAfterS: 2.2 });
    const answer = await post(`${one.url}/v1/traces`, batch);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(await answer.json()).toMatchObject({ code: "busy" });
  });

  it("gets 429 before any of it has come when it would find no room, while a small one is taken", async () => {
    const one = await start();
    one.roomFor = (_, isQuiet) => (isQuiet ? null : { busy: true, retryAfterS: 5 });
    const head = (length: number) => `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
    const refused = await sendRaw(one.server.address.port, head(50_000_000));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect(JSON.parse(refused.body)).toMatchObject({ code: "busy" });
    const taken = await sendRaw(one.server.address.port, head(batch.length), batch);
    expect(taken.status).toBe(202);
    expect(one.inputs).toHaveLength(1);
  });

  it("that was refused leaves its connection to the next one", async () => {
    const one = await start();
    one.roomFor = (_, isQuiet) => (isQuiet ? null : { busy: true, retryAfterS: 5 });
    const socket = connect(one.server.address.port, "127.0.0.1");
    const large = Buffer.alloc(3_000_000, " ");
    const head = (length: number) => `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
    let answers = "";
    socket.setEncoding("latin1").on("data", (text: string) => {
      answers += text;
    });
    socket.write(head(large.length));
    socket.write(large);
    socket.write(head(batch.length) + batch);
    await expect
      .poll(() => answers.match(/HTTP\/1.1 \d+/g), { timeout: 5000 })
      .toEqual(["HTTP/1.1 429", "HTTP/1.1 202"]);
    socket.destroy();
  });

  it("gets 400 with the reason and the place when it is none", async () => {
    const one = await start();
    const answer = await post(`${one.url}/v1/traces`, "[1 2]");
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "json_syntax", at: { part: "body", offset: 3 } });
    expect(one.inputs).toMatchObject([{ kind: "refused", protocol: "cirron", code: "json_syntax" }]);
    expect(Buffer.from(one.inputs[0]?.body ?? []).toString()).toBe("[1 2]");
  });

  it("is a success again when it is a duplicate or of a run nobody knows", async () => {
    const one = await start();
    one.respond = async () => ({ position: 1, accepted: 0, duplicates: 3, faults: [] });
    expect((await post(`${one.url}/v1/traces`, batch)).status).toBe(202);
    expect((await post(`${one.url}/v1/runs/never-seen/traces`, batch)).status).toBe(202);
  });

  it("is answered when it can be queried, with wait=1", async () => {
    const one = await start();
    expect((await post(`${one.url}/v1/traces?wait=1`, batch)).status).toBe(202);
  });

  it("is never redirected", async () => {
    const { url } = await start();
    for (const path of ["//v1/traces", "/v1/traces//", "/V1/traces"]) {
      const answer = await fetch(url + path, { method: "POST", body: batch, redirect: "manual" });
      expect([path, answer.status >= 300 && answer.status < 400]).toEqual([path, false]);
    }
  });
});

describe("what an unmodified SDK was recorded to send", () => {
  const folder = new URL("../../../tests/fixtures/cirron/http_ok/recorded/", import.meta.url);
  const requests = readFileSync(new URL("requests.jsonl", folder), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Recorded);

  it("is taken byte for byte, batch or blob, by one connection [CT-26, CT-27]", async () => {
    const one = await start();
    const { port } = one.server.address;
    for (const { method, path, headers, body_file, batch_id } of requests) {
      const body = readFileSync(new URL(body_file, folder));
      const head = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)].join("\r\n");
      const answer = await sendRaw(port, `${head}\r\n\r\n`, body);
      expect([path, answer.status]).toEqual([path, method === "PUT" ? 201 : 202]);
      if (method === "POST") expect(JSON.parse(answer.body)).toEqual({ batch_id });
      else expect(one.blobs.at(-1)?.bytes.equals(body)).toBe(true);
    }
    const batches = requests.filter(({ method }) => method === "POST");
    expect(one.inputs).toHaveLength(batches.length);
    for (const [at, { body_file }] of batches.entries()) {
      const plain = readFileSync(new URL(body_file.replace(".bin", ".json"), folder));
      expect(Buffer.from(one.inputs[at]?.body ?? []).equals(plain)).toBe(true);
    }
    expect(new Set(one.inputs.map(({ source }) => source)).size).toBe(1);
  });
});

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: [string, string][];
  readonly body_file: string;
  readonly batch_id?: string;
}

describe("limits on a body", () => {
  const limits = { bodyBytesMax: "2 MiB", bodyRatioMax: "50" };

  it("takes a body of exactly the limit and refuses one byte more with 413", async () => {
    const { url } = await start({ flags: limits });
    const whole = batch + " ".repeat(2 * 2 ** 20 - batch.length);
    expect((await post(`${url}/v1/traces`, whole)).status).toBe(202);
    const more = await post(`${url}/v1/traces`, `${whole} `);
    expect(more.status).toBe(413);
    expect(await more.json()).toMatchObject({ code: "body_too_large" });
  });

  it("refuses a longer body that does not say its length, without holding it", async () => {
    const one = await start({ flags: limits });
    async function* chunks() {
      for (let sent = 0; sent < 40; sent++) yield new Uint8Array(100_000);
    }
    const init = { method: "POST", body: ReadableStream.from(chunks()), duplex: "half" } as RequestInit;
    expect((await fetch(`${one.url}/v1/traces`, init)).status).toBe(413);
    expect(one.inputs[0]).toMatchObject({ kind: "refused", code: "body_too_large" });
    expect(one.inputs[0]?.body.length).toBeLessThanOrEqual(65_536);
  });

  it("stops a gzip bomb at the ratio and at the size", async () => {
    const { url } = await start({ flags: limits });
    const headers = { "content-encoding": "gzip" };
    const byRatio = await post(`${url}/v1/traces`, gzipSync(new Uint8Array(1_900_000)), headers);
    expect([byRatio.status, ((await byRatio.json()) as { code: string }).code]).toEqual([413, "body_ratio"]);
    const large = await start({ flags: { ...limits, bodyRatioMax: "100000" } });
    const bySize = await post(`${large.url}/v1/traces`, gzipSync(new Uint8Array(50_000_000)), headers);
    expect([bySize.status, ((await bySize.json()) as { code: string }).code]).toEqual([413, "body_too_large"]);
  });

  it("keeps a body that is not the gzip it claims to be as a fault, with 400", async () => {
    const one = await start();
    const headers = { "content-encoding": "gzip" };
    const cut = gzipSync(batch).subarray(0, 30);
    for (const body of [Buffer.from("not gzip"), cut]) {
      expect((await post(`${one.url}/v1/traces`, body, headers)).status).toBe(400);
    }
    expect(one.inputs).toMatchObject([
      { kind: "refused", protocol: "cirron", code: "body_encoding" },
      { kind: "refused", protocol: "cirron", code: "body_encoding" },
    ]);
    expect(Buffer.from(one.inputs[0]?.body ?? []).toString()).toBe("not gzip");
  });

  it("refuses an encoding it does not know with 415 and names those it does", async () => {
    const { url } = await start();
    const answer = await post(`${url}/v1/traces`, batch, { "content-encoding": "br" });
    expect([answer.status, answer.headers.get("accept-encoding")]).toEqual([415, "gzip, deflate, zstd"]);
  });

  it("takes nothing from a client that goes away in the middle", async () => {
    const one = await start();
    await sendPart(one, "POST /v1/traces", "{}");
    await expect.poll(() => one.inputs.length).toBe(1);
    expect(one.inputs[0]).toMatchObject({ kind: "refused", code: "body_cut" });
  });
});

describe("trace lines and frames", () => {
  it("are answered with counts and the place of every fault, also when some are bad", async () => {
    const one = await start();
    const raw = new Uint8Array(0);
    one.respond = async () => ({
      position: 1,
      accepted: 2,
      duplicates: 1,
      faults: [{ code: "json_syntax", detail: "not JSON", place: { line: 4, offset: 99 }, raw }],
    });
    const lines = await post(`${one.url}/v1/trace-stream`, "{}\n");
    expect(lines.status).toBe(202);
    const fault = { code: "json_syntax", message: "not JSON" };
    expect(await lines.json()).toEqual({ accepted: 2, duplicates: 1, faults: [{ ...fault, line: 4 }] });
    const frames = await post(`${one.url}/v1/xtrack/`, new Uint8Array([0, 0, 0, 2, 123, 125]));
    expect(await frames.json()).toEqual({ accepted: 2, duplicates: 1, faults: [{ ...fault, offset: 99 }] });
    expect(one.inputs.map((input) => input.kind)).toEqual(["semantiva_lines", "xtrack_frames"]);
  });
});

describe("a blob", () => {
  const key = "snapshots/abc/weights.safetensors";
  const put = (url: string, body: Uint8Array, headers: Record<string, string> = {}) =>
    fetch(url, { method: "PUT", body: body as never, headers });

  it("is streamed in and answered 201 with its Location, on every path, and again under the same key", async () => {
    const one = await start();
    const bytes = new Uint8Array(300_000).fill(7);
    for (const path of ["/v1/traces", "/api/traces", "/v1/runs/r1/traces"]) {
      const answer = await put(`${one.url}${path}/blobs/${key}`, bytes);
      expect([path, answer.status]).toEqual([path, 201]);
      expect(answer.headers.get("location")).toBe(`${one.url}/blobs/${key}`);
      expect(await answer.json()).toEqual({ key, size_bytes: 300_000 });
    }
    expect(one.blobs.map(({ put: { runOverride } }) => runOverride)).toEqual([null, null, "r1"]);
    expect(one.blobs.every(({ bytes: got }) => got.equals(bytes))).toBe(true);
  });

  it("is refused beyond its own limit, said or not", async () => {
    const one = await start({ flags: { blobBytesMax: "100 KB" } });
    expect((await put(`${one.url}/v1/traces/blobs/${key}`, new Uint8Array(100_001))).status).toBe(413);
    async function* chunks() {
      for (let sent = 0; sent < 20; sent++) yield new Uint8Array(10_000);
    }
    const init = { method: "PUT", body: ReadableStream.from(chunks()), duplex: "half" } as RequestInit;
    expect((await fetch(`${one.url}/v1/traces/blobs/${key}`, init)).status).toBe(413);
    expect(one.blobs).toEqual([]);
  });

  it("may be compressed, and is stored as it was before", async () => {
    const one = await start();
    const bytes = Buffer.from("a tensor ".repeat(1000));
    const answer = await put(`${one.url}/v1/traces/blobs/${key}`, gzipSync(bytes), { "content-encoding": "gzip" });
    expect(answer.status).toBe(201);
    expect(one.blobs[0]?.bytes.equals(bytes)).toBe(true);
    const broken = await put(`${one.url}/v1/traces/blobs/${key}`, bytes, { "content-encoding": "gzip" });
    expect(broken.status).toBe(400);
  });

  it("is kept by nobody when its client goes away in the middle", async () => {
    const one = await start();
    await sendPart(one, `PUT /v1/traces/blobs/${key}`, "abc");
    const other = "snapshots/whole/weights.safetensors";
    expect((await put(`${one.url}/v1/traces/blobs/${other}`, Buffer.from("whole"))).status).toBe(201);
    // A closed server has done with every request.
    await one.server.close(5000);
    expect(one.blobs.map((blob) => blob.put.key)).toEqual([other]);
  });

  it.each(["gzip", "deflate", "zstd"])(
    "is refused when it is not %s, although the header says so",
    async (encoding) => {
      const one = await start();
      for (const path of [`/v1/traces/blobs/${key}`, "/v1/runs/r1/artifacts/a"]) {
        const answer = await put(one.url + path, Buffer.from("plain"), { "content-encoding": encoding });
        const message = `The body is not ${encoding}, although the header says so.`;
        expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ message })]);
      }
    },
  );

  it("may be an artifact of a run, answered with its checksum", async () => {
    const one = await start();
    const bytes = Buffer.from("report");
    const answer = await put(`${one.url}/v1/runs/r1/artifacts/a%2Fb.txt`, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    expect([answer.status, await answer.json()]).toEqual([201, { name: "a/b.txt", size_bytes: "6", sha256 }]);
  });
});
