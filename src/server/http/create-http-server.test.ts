import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { paths, type RouteName } from "#api/contract/paths.ts";
import { FileBody, JsonBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { DiskOutage, toOutage } from "#base/disk-outage.ts";
import { BlobOutage } from "#store/blobs/blob-store.ts";
import { StoreOutage } from "#store/outage.ts";
import { makeFolder } from "../../../tests/support/folder.ts";
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

describe("slow and many clients", () => {
  it("closes a connection whose headers do not come in time", async () => {
    const { server } = await start({ flags: { headerTimeoutMs: "300ms" } });
    const begun = performance.now();
    const { status, body } = await sendRaw(server.address.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    // Not 408: a batch may have waited for a server that stood still, and clients throw one away on most 4xx.
    expect(status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({ code: "request_slow" });
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it("closes one that says nothing without an answer, which a browser would take for that to its next request", async () => {
    const { server } = await start({ flags: { headerTimeoutMs: "300ms" } });
    const socket = connect(server.address.port, "127.0.0.1");
    const answers: Buffer[] = [];
    socket.on("data", (chunk) => answers.push(chunk));
    await once(socket, "close");
    expect(answers).toEqual([]);
  });

  it("refuses headers larger than any real client's", async () => {
    const { server } = await start();
    const head = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Big: ${"a".repeat(40_000)}\r\n\r\n`;
    expect((await sendRaw(server.address.port, head)).status).toBe(431);
  });

  it("opens no more connections than allowed", async () => {
    const { server } = await start({ flags: { httpConnectionsMax: "2" } });
    const sockets = [1, 2].map(() => connect(server.address.port, "127.0.0.1"));
    // The server counts those that it has answered.
    for (const socket of sockets) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    }
    await expect(
      sendRaw(server.address.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").then(({ status }) => {
        if (!(status > 0)) throw new Error("closed");
      }),
    ).rejects.toThrow();
    for (const socket of sockets) socket.destroy();
  });
});

describe("answers", () => {
  it("have one error shape, whatever was wrong", async () => {
    const handlers = {
      runs: () => {
        throw new Refusal("filter_syntax", "A bracket is missing.", {
          hint: "Add it.",
          at: { part: "filter", offset: 3 },
        });
      },
      run: () => {
        throw new Error("a secret detail");
      },
      patchRun: () => ({}) as never,
      series: () => ({}) as never,
    };
    const { url } = await start({ handlers });
    const json = { "content-type": "application/json" };
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(url + path, init);
      const body = (await answer.json()) as Record<string, unknown>;
      expect(Object.keys(body).sort()).toEqual(["at", "code", "hint", "message"]);
      return [answer.status, body["code"], body["at"]];
    };
    expect(await ask("/api/v1/runs")).toEqual([400, "filter_syntax", { part: "filter", offset: 3 }]);
    expect(await ask("/api/v1/runs?limit=0")).toEqual([400, "request_invalid", { part: "query", name: "limit" }]);
    expect(await ask("/api/v1/runs?limt=5")).toEqual([400, "request_invalid", { part: "query", name: "limt" }]);
    expect(await ask("/api/v1/runs/x")).toEqual([500, "internal", null]);
    expect(await ask("/api/v1/nothing")).toEqual([404, "route_not_found", { part: "path" }]);
    const patch = (body: string) => ask("/api/v1/runs/x", { method: "PATCH", headers: json, body });
    expect(await patch("{")).toEqual([400, "body_syntax", { part: "body" }]);
    expect(await patch('{"colour":"red"}')).toEqual([400, "request_invalid", { part: "body", name: "colour" }]);
    expect(
      await ask("/api/v1/runs/x", { method: "PATCH", body: "{}", headers: { "content-type": "text/plain" } }),
    ).toEqual([415, "media_unknown", { part: "header", name: "content-type" }]);
    const long = JSON.stringify({ notes: "x".repeat(2 * 2 ** 20) });
    expect(await patch(long)).toEqual([413, "body_too_large", { part: "body" }]);
  });

  it("say of a part that fails whether to come again", async () => {
    const full = Object.assign(new Error("write"), { code: "ENOSPC" });
    const outages: [unknown, number, string, string | null][] = [
      [toOutage("The journal could not be written.", full), 429, "disk_full", "5"],
      [full, 429, "disk_full", "5"],
      [Object.assign(new Error("EMFILE: a secret detail"), { code: "EMFILE" }), 503, "disk_failed", "1"],
      [new DiskOutage("disk_failed", "a secret detail"), 503, "journal_failed", null],
      [new BlobOutage("disk_full", "a secret detail"), 429, "disk_full", "5"],
      [new BlobOutage("unavailable", "a secret detail"), 503, "blobs_unavailable", "1"],
      [new StoreOutage("engine_down", "a secret detail"), 503, "store_unavailable", "1"],
      [new StoreOutage("overloaded", "a secret detail"), 503, "store_overloaded", "1"],
      [new StoreOutage("timeout", "a secret detail"), 504, "question_too_slow", null],
      [new StoreOutage("too_large", "a secret detail"), 422, "answer_too_large", null],
      [new StoreOutage("refused", "a secret detail"), 500, "internal", null],
    ];
    let outage: unknown;
    const run = () => {
      throw outage;
    };
    const { url } = await start({ handlers: { run } });
    for (const [error, status, code, retryAfter] of outages) {
      outage = error;
      const answer = await fetch(`${url}/api/v1/runs/x`);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).code, answer.headers.get("retry-after")]).toEqual([
        status,
        code,
        retryAfter,
      ]);
      expect(text).not.toContain("secret");
    }
  });

  it("never show what went wrong inside", async () => {
    const { url } = await start({
      handlers: {
        run: () => {
          throw new Error("a secret detail");
        },
      },
    });
    expect(await (await fetch(`${url}/api/v1/runs/x`)).text()).not.toContain("secret");
  });

  it("give a handler its ids decoded and its lists and numbers as such", async () => {
    const seen: unknown[] = [];
    const handlers = {
      metric: (request: { params: unknown; query: unknown }) => {
        seen.push(request.params, request.query);
        return new JsonBody('{"exact":9007199254740993}');
      },
      compare: (request: { query: unknown }) => {
        seen.push(request.query);
        return {} as never;
      },
    };
    const { url } = await start({ handlers: handlers as never });
    const answer = await fetch(`${url}/api/v1/runs/a%2Fb/metrics/train%2Floss?buckets=100`);
    expect(await answer.text()).toBe('{"exact":9007199254740993}');
    expect(seen).toEqual([{ id: "a/b", key: "train/loss" }, { buckets: 100 }]);
    await fetch(`${url}/api/v1/compare?run=a&run=b`);
    expect(seen[2]).toMatchObject({ run: ["a", "b"] });
  });

  it("hand out a user's file as a download that no browser runs", async () => {
    const name = 'x"; filename=evil.html\r\nSet-Cookie: a=b/é.html';
    const handlers = { artifact: () => new FileBody("text/html", "<script>", name) };
    const { url } = await start({ handlers });
    const { headers } = await fetch(`${url}/api/v1/runs/r/artifacts/x`);
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="[\w.-]+"; filename\*=UTF-8''\S+$/);
    expect(headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("set-cookie")).toBeNull();
  });

  it("carry headers that keep the page to itself", async () => {
    const { url } = await start();
    const { headers } = await fetch(url);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self';");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });
});

describe("routes", () => {
  it("are all refused to a caller without a key, but for those declared open", async () => {
    const names = Object.keys(paths) as RouteName[];
    const handlers = Object.fromEntries(names.map((name) => [name, () => ({})]));
    for (const own of [
      "session",
      "login",
      "logout",
      "keys",
      "createKey",
      "deleteKey",
      "healthz",
      "readyz",
      "prometheus",
    ]) {
      delete handlers[own];
    }
    for (const own of names.filter((name) => paths[name].scope === "ingest")) delete handlers[own];
    for (const own of ["openapi", "reference", "mcp"]) delete handlers[own];
    const one = await start({ flags: { authLoopback: "key" }, handlers: handlers as never });
    one.addKey(["read"]);
    for (const name of names) {
      const { method, path, scope } = paths[name];
      const url = one.url + path.replaceAll(/:\w+/g, "1").replace("*", "x");
      const answer = await fetch(url, { method, ...(method === "GET" ? {} : { body: "{}" }) });
      expect([name, answer.status === 401]).toEqual([
        name,
        scope !== "open" || (name === "login" && answer.status === 401),
      ]);
    }
  });

  it("describe themselves as OpenAPI, each with its method and path", async () => {
    const { url } = await start();
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const declared = Object.values(paths).map(
      ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}").replace("*", "{rest}")}`,
    );
    expect(described.sort()).toEqual(declared.sort());
  });

  it("have a reference to read", async () => {
    const { url } = await start();
    const page = await (await fetch(`${url}/reference`)).text();
    for (const { path } of Object.values(paths)) expect(page).toContain(path);
  });
});

describe("state", () => {
  it("is ready when nothing is wrong, and says what is", async () => {
    const problems: string[] = [];
    const { url } = await start({ problems: () => problems });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    problems.push("The store does not answer.");
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { ready: false, degraded: [], problems }]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("answers drained=1 when nothing waits", async () => {
    const waiting: (() => void)[] = [];
    const drained = () => new Promise<void>((resolve) => waiting.push(resolve));
    const { url } = await start({ drained });
    let answered = false;
    const asked = fetch(`${url}/readyz?drained=1`).then(({ status }) => {
      answered = true;
      return status;
    });
    await expect.poll(() => waiting.length).toBe(1);
    // Who asked later for something else has been answered since.
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(answered).toBe(false);
    for (const release of waiting) release();
    expect(await asked).toBe(200);
  });

  it("is counted for Prometheus", async () => {
    const { url } = await start();
    await fetch(`${url}/v1/traces`, { method: "POST", body: '{"batch_id":"b"}' });
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toMatch(/tributary_received_bytes_total\{protocol="cirron"\} 16/);
    expect(text).toContain("process_cpu_seconds_total");
  });
});

describe("closing", () => {
  it("lets a request in flight end and takes no new one", async () => {
    const one = await openServer();
    const answering = Promise.withResolvers<void>();
    one.respond = async () => {
      await answering.promise;
      return { position: 1, accepted: 1, duplicates: 0, faults: [] };
    };
    const inFlight = fetch(`${one.url}/v1/trace-stream`, { method: "POST", body: "{}" });
    await expect.poll(() => one.inputs.length).toBe(1);
    const begun = performance.now();
    const closed = one.server.close(5000);
    answering.resolve();
    expect((await inFlight).status).toBe(202);
    await closed;
    expect(performance.now() - begun).toBeLessThan(2000);
    await expect(fetch(`${one.url}/healthz`)).rejects.toThrow();
  });

  it("ends live streams, and cuts what hangs after its time", async () => {
    async function* tick() {
      for (;;) {
        yield Buffer.from("data: 1\n\n");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    const one = await openServer({ handlers: { live: () => new FileBody("text/event-stream", tick()) } });
    const stream = await fetch(`${one.url}/api/v1/live`);
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const begun = performance.now();
    await one.server.close(500);
    expect(performance.now() - begun).toBeLessThan(3000);
    await stream.text().catch(() => undefined);
  });
});

describe("the browser application", () => {
  it("is a plain page that says what to do when it was not built", async () => {
    const { url } = await start();
    const answer = await fetch(url);
    expect(answer.headers.get("content-type")).toContain("text/html");
    expect(await answer.text()).toContain("npm run build:web");
  });

  it("is served with its files, and its page for every view", async () => {
    const webDir = makeFolder();
    mkdirSync(join(webDir, "assets"));
    writeFileSync(join(webDir, "index.html"), "<title>app</title>");
    writeFileSync(join(webDir, "assets", "main-1234.js"), "1");
    writeFileSync(join(webDir, "..", "secret-beside.txt"), "hidden bytes");
    const { url, server } = await start({ webDir });
    const accept = { headers: { accept: "text/html" } };
    expect(await (await fetch(url)).text()).toBe("<title>app</title>");
    expect(await (await fetch(`${url}/runs/some-run/charts`, accept)).text()).toBe("<title>app</title>");
    const script = await fetch(`${url}/assets/main-1234.js`);
    expect([await script.text(), script.headers.get("cache-control")]).toEqual([
      "1",
      "public, max-age=31536000, immutable",
    ]);
    expect((await fetch(`${url}/assets/gone.js`)).status).toBe(404);
    expect((await fetch(`${url}/api/v1/gone`, accept)).status).toBe(404);
    for (const path of ["/../secret-beside.txt", "/%2e%2e/secret-beside.txt", "/assets/..%2f..%2fsecret-beside.txt"]) {
      const { body } = await sendRaw(server.address.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect(body).not.toContain("hidden bytes");
    }
    rmSync(join(webDir, "..", "secret-beside.txt"));
  });
});

describe("TLS", () => {
  it("serves HTTPS with the certificate it was given, and marks the login cookie Secure", async () => {
    const folder = new URL("../../../tests/fixtures/tls/", import.meta.url).pathname;
    const flags = { tlsCert: `${folder}cert.pem`, tlsKey: `${folder}key.pem` };
    const one = await start({ flags });
    const { port } = one.server.address;
    const ca = readFileSync(flags.tlsCert);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { port, host: "localhost", ca, method: "DELETE", path: "/api/v1/session" };
      httpsRequest(options, resolve).on("error", reject).end();
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["set-cookie"]?.[0]).toContain("Secure");
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(one.server.url).toBe(`https://127.0.0.1:${port}`);
    answer.destroy();
  });
});

describe("the XTrack WebSocket", () => {
  const openSocket = (url: string, options: object = {}) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/xtrack`, options);
      socket.on("open", () => socket.send("hello"));
      socket.on("message", (data) => {
        resolve(String(data));
        socket.close();
      });
      socket.on("unexpected-response", (_request, response) => resolve(String(response.statusCode)));
      socket.on("error", () => undefined);
    });

  it("opens for a worker, and for no page of another site", async () => {
    const { url } = await start();
    expect(await openSocket(url)).toBe("hello");
    expect(await openSocket(url, { origin: "https://evil.example" })).toBe("403");
    expect(await openSocket(url, { headers: { host: "evil.example" } })).toBe("403");
  });

  it("needs a key with the ingest scope where a key is needed", async () => {
    const one = await start({ flags: { authLoopback: "key" } });
    const read = one.addKey(["read"]);
    const ingest = one.addKey(["ingest"]);
    expect(await openSocket(one.url)).toBe("401");
    expect(await openSocket(one.url, { headers: { authorization: `Bearer ${read}` } })).toBe("403");
    expect(await openSocket(one.url, { headers: { authorization: `Bearer ${ingest}` } })).toBe("hello");
  });
});
