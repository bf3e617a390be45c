import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { BindError } from "./create-http-server.ts";
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

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const runs = { runs: () => ({ runs: [], next: null }) as never };

describe("DNS rebinding", () => {
  it("answers to loopback names and addresses, whatever their port", async () => {
    const { server } = await start();
    for (const host of ["localhost", "localhost:1", "127.0.0.1:7077", "[::1]:7077", "LOCALHOST", "app.localhost"]) {
      const { status } = await sendRaw(server.address.port, `GET /api/v1/session HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([host, status]).toEqual([host, 200]);
    }
  });

  it("refuses a foreign host name that was made to resolve here", async () => {
    const { server } = await start();
    for (const host of ["evil.example", "evil.example:7077", "localhost.evil.example", "127.0.0.1.evil.example", ""]) {
      const { status, body } = await sendRaw(server.address.port, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([host, status]).toEqual([host, 403]);
      expect(JSON.parse(body).code).toBe("host_not_allowed");
    }
  });

  it("answers to names of http.hosts, and to any name that comes with a valid key", async () => {
    const one = await start({ flags: { httpHosts: "trib.example" } });
    const { port } = one.server.address;
    expect((await sendRaw(port, "GET /api/v1/session HTTP/1.1\r\nHost: trib.example\r\n\r\n")).status).toBe(200);
    const key = one.addKey(["ingest"]);
    const withKey = (value: string) =>
      sendRaw(port, `GET /api/v1/session HTTP/1.1\r\nHost: any.example\r\nAuthorization: Bearer ${value}\r\n\r\n`);
    expect((await withKey(key)).status).toBe(200);
    expect((await withKey("wrong")).status).toBe(403);
  });

  it("does not take any bearer for a valid key while there is none", async () => {
    const { server } = await start();
    const head = "GET /api/v1/session HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer x\r\n\r\n";
    expect((await sendRaw(server.address.port, head)).status).toBe(403);
  });
});

describe("balancers and monitors", () => {
  it.each(["/healthz", "/readyz", "/metrics"])("get an answer at %s whatever they call this server", async (path) => {
    const { server } = await start();
    const ask = (head: string) => sendRaw(server.address.port, `GET ${path} ${head}\r\n\r\n`);
    expect((await ask("HTTP/1.0")).status).toBe(200);
    expect((await ask("HTTP/1.1\r\nHost: collector-1.svc\r\nConnection: close")).status).toBe(200);
    expect((await ask("HTTP/1.1\r\nHost: a\r\nHost: b")).status).not.toBe(200);
  });
});

describe("cross-site requests", () => {
  it("starts no backup for a page of another site", async () => {
    const { server } = await start({ handlers: { backup: () => ({}) as never } });
    const head = "GET /api/v1/backup HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n";
    expect((await sendRaw(server.address.port, head)).status).toBe(403);
  });

  it("refuses a change that comes from a page of another site", async () => {
    const { url, inputs } = await start();
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"]) {
      const answer = await fetch(`${url}/v1/traces`, { method: "POST", headers: { origin }, body: "{}" });
      expect([origin, answer.status]).toEqual([origin, 403]);
      expect(((await answer.json()) as { code: string }).code).toBe("origin_not_allowed");
    }
    expect(inputs).toEqual([]);
  });

  it("refuses what the browser itself calls cross-site, also without an Origin", async () => {
    const { server } = await start();
    const head = `DELETE /api/v1/session HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\n\r\n`;
    expect((await sendRaw(server.address.port, head)).status).toBe(403);
  });

  it("takes a change from its own page, and from a program", async () => {
    const { url } = await start();
    const own = await fetch(`${url}/api/v1/session`, { method: "DELETE", headers: { origin: url } });
    const program = await fetch(`${url}/api/v1/session`, { method: "DELETE" });
    expect([own.status, program.status]).toEqual([200, 200]);
  });

  it("sends no CORS header, so that no other page can read an answer", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/healthz`, { headers: { origin: "https://evil.example" } });
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("keys", () => {
  it("accepts any bearer and none on loopback while there is no key", async () => {
    const { url } = await start({ handlers: runs });
    expect((await fetch(`${url}/api/v1/runs`)).status).toBe(200);
    expect((await fetch(`${url}/api/v1/runs`, { headers: bearer("whatever") })).status).toBe(200);
  });

  it("refuses a wrong key once keys exist, and lets loopback in without one with auth.loopback = open", async () => {
    const one = await start({ handlers: runs, flags: { authLoopback: "open" } });
    const key = one.addKey(["read"]);
    const get = (headers: Record<string, string>) => fetch(`${one.url}/api/v1/runs`, { headers });
    expect((await get(bearer(key))).status).toBe(200);
    const wrong = await get(bearer("trib_wrong"));
    expect(wrong.status).toBe(401);
    expect(await wrong.json()).toMatchObject({ code: "key_wrong", at: { part: "header", name: "authorization" } });
    expect((await get({})).status).toBe(200);
    expect((await get({ authorization: "Basic abc" })).status).toBe(401);
  });

  it("wants a key on loopback too as soon as one exists", async () => {
    const one = await start({ handlers: runs });
    const get = () => fetch(`${one.url}/api/v1/runs`).then(({ status }) => status);
    expect(await get()).toBe(200);
    one.addKey(["read"]);
    expect(await get()).toBe(401);
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200);
  });

  it("lets the owner of the data folder do everything from this machine, and from nowhere else", async () => {
    const one = await start({ handlers: runs });
    one.addKey(["read"]);
    const get = (headers: Record<string, string>) =>
      fetch(`${one.url}/api/v1/keys`, { headers: { ...bearer(one.ownerSecret), ...headers } });
    expect((await get({})).status).toBe(200);
    expect((await get({ "x-forwarded-for": "127.0.0.1" })).status).toBe(401);
  });

  it.each([
    { "x-forwarded-for": "203.0.113.9" },
    { "x-forwarded-for": "127.0.0.1" },
    { forwarded: "for=127.0.0.1" },
    { "x-real-ip": "127.0.0.1" },
    { via: "1.1 proxy" },
    { "cf-connecting-ip": "203.0.113.9" },
  ])("calls no request local that a proxy passed on, trusted or not: %o", async (headers) => {
    for (const flags of [{}, { trustedProxies: "127.0.0.1" }, { trustedProxies: "127.0.0.0/8" }]) {
      const { url } = await start({ handlers: runs, flags });
      expect((await fetch(`${url}/api/v1/runs`, { headers })).status).toBe(401);
    }
  });

  it("judges the upgrade of a WebSocket like every request", async () => {
    const one = await start({ flags: { trustedProxies: "127.0.0.1" } });
    const key = one.addKey(["ingest"]);
    const upgrade = (...more: string[]) =>
      sendRaw(
        one.server.address.port,
        ["GET /v1/xtrack HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket"].join("\r\n"),
        ["", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", ...more, "", ""].join("\r\n"),
      ).then(({ status }) => status);
    expect(await upgrade("X-Forwarded-For: 203.0.113.9")).toBe(401);
    expect(await upgrade("X-Forwarded-For: 127.0.0.1")).toBe(401);
    const socket = new WebSocket(`ws://127.0.0.1:${one.server.address.port}/v1/xtrack`, {
      headers: { ...bearer(key), "x-forwarded-for": "203.0.113.9" },
    });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.terminate();
  });

  it("refuses a key without the scope of the route, and admin has them all", async () => {
    const one = await start({ handlers: runs });
    const ingest = one.addKey(["ingest"]);
    const admin = one.addKey(["admin"]);
    const refused = await fetch(`${one.url}/api/v1/runs`, { headers: bearer(ingest) });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: "scope_missing" });
    expect((await fetch(`${one.url}/api/v1/runs`, { headers: bearer(admin) })).status).toBe(200);
    const read = one.addKey(["read"]);
    const post = await fetch(`${one.url}/v1/traces`, { method: "POST", headers: bearer(read), body: "{}" });
    expect(post.status).toBe(403);
  });

  it("gives each key's requests its workspace and a source that is not the key", async () => {
    const one = await start();
    const key = one.addKey(["ingest"], "team-a");
    const body = '{"batch_id":"b1"}';
    await fetch(`${one.url}/v1/traces`, { method: "POST", headers: bearer(key), body });
    expect(one.inputs[0]).toMatchObject({ workspace: "team-a", source: `key:${one.keys[0]?.id}` });
    expect(JSON.stringify(one.inputs[0], (_, value) => (typeof value === "bigint" ? "" : value))).not.toContain(key);
  });

  it("refuses to listen where others can reach it without a key, and says how to make one", async () => {
    await expect(openServer({ flags: { httpAddress: "0.0.0.0:0" } })).rejects.toThrow(BindError);
    await expect(openServer({ flags: { httpAddress: "0.0.0.0:0" } })).rejects.toThrow("tributary keys create");
  });

  it("listens elsewhere once a key exists", async () => {
    const keys = [
      {
        id: "a",
        name: "a",
        workspace: "default",
        scopes: ["read"] as const,
        createdNs: 1n,
        lastUsedNs: null,
        sha256: "00",
      },
    ];
    const one = await start({ flags: { httpAddress: "0.0.0.0:0" }, keys: [...keys] });
    expect((await fetch(`${one.url}/healthz`)).status).toBe(200);
  });

  it("creates, lists and revokes keys, and shows a key only when it is made", async () => {
    const { url } = await start({ flags: { authLoopback: "open" } });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "ci", scopes: ["ingest"], workspace: "team-b" });
    const made = await fetch(`${url}/api/v1/keys`, { method: "POST", headers, body });
    expect(made.status).toBe(201);
    const { id, key } = (await made.json()) as { id: string; key: string };
    expect(Buffer.from(key.replace("trib_", ""), "base64url")).toHaveLength(32);
    const listed = await (await fetch(`${url}/api/v1/keys`)).text();
    expect(JSON.parse(listed).keys).toMatchObject([{ id, name: "ci", workspace: "team-b", scopes: ["ingest"] }]);
    expect(listed).not.toContain(key);
    expect((await fetch(`${url}/api/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
    expect((await fetch(`${url}/api/v1/keys/${id}`, { method: "DELETE" })).status).toBe(404);
    expect((await fetch(`${url}/api/v1/runs`, { headers: bearer(key) })).status).not.toBe(401);
  });

  it("makes no key for a workspace with a slash, which would make group keys ambiguous", async () => {
    const { url } = await start();
    const body = JSON.stringify({ name: "ci", scopes: ["ingest"], workspace: "team/b" });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${url}/api/v1/keys`, { method: "POST", headers, body })).status).toBe(400);
  });

  it("lets an admin of one workspace make keys for no other", async () => {
    const one = await start();
    const admin = one.addKey(["admin"], "team-a");
    one.addKey(["read"], "team-b");
    const headers = { ...bearer(admin), "content-type": "application/json" };
    const body = JSON.stringify({ name: "x", scopes: ["read"], workspace: "team-b" });
    expect((await fetch(`${one.url}/api/v1/keys`, { method: "POST", headers, body })).status).toBe(403);
    const { keys } = (await (await fetch(`${one.url}/api/v1/keys`, { headers })).json()) as { keys: unknown[] };
    expect(keys).toHaveLength(1);
    const other = one.keys[1]?.id;
    expect((await fetch(`${one.url}/api/v1/keys/${other}`, { method: "DELETE", headers })).status).toBe(404);
  });
});

describe("a browser's login", () => {
  const flags = { authLoopback: "key" };
  const json = { "content-type": "application/json" };
  const login = (url: string, key: string) =>
    fetch(`${url}/api/v1/session`, { method: "POST", headers: json, body: JSON.stringify({ key }) });

  it("trades a key for a cookie that scripts cannot read and other sites cannot use", async () => {
    const one = await start({ flags, handlers: runs });
    const key = one.addKey(["read"]);
    const answer = await login(one.url, key);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toContain(key);
    expect(await answer.json()).toMatchObject({ workspace: "default", scopes: ["read"], key_needed: true });
    const sent = { cookie: cookie.split(";")[0] ?? "" };
    expect((await fetch(`${one.url}/api/v1/runs`, { headers: sent })).status).toBe(200);
    expect((await fetch(`${one.url}/api/v1/keys`, { headers: sent })).status).toBe(403);
  });

  it("ends with its key, and cannot be forged or prolonged", async () => {
    const one = await start({ flags, handlers: runs });
    const key = one.addKey(["read"]);
    one.addKey(["read"]);
    const cookie = (await login(one.url, key)).headers.get("set-cookie")?.split(";")[0] ?? "";
    const [id, end, seal] = cookie.split("=")[1]?.split(".") ?? [];
    const get = (value: string) =>
      fetch(`${one.url}/api/v1/runs`, { headers: { cookie: `tributary_login=${value}` } }).then(({ status }) => status);
    expect(await get(`${id}.${end}.${seal}`)).toBe(200);
    expect(await get(`${id}.${Number(end) + 1}.${seal}`)).toBe(401);
    expect(await get(`${one.keys[1]?.id}.${end}.${seal}`)).toBe(401);
    expect(await get(`${id}.${end}.${"A".repeat(43)}`)).toBe(401);
    one.keys.shift();
    expect(await get(`${id}.${end}.${seal}`)).toBe(401);
  });

  it("refuses a wrong key, and tells a stranger nothing but that a key is needed", async () => {
    const one = await start({ flags });
    one.addKey(["read"]);
    expect((await login(one.url, "wrong")).status).toBe(401);
    const session = await (await fetch(`${one.url}/api/v1/session`)).json();
    expect(session).toMatchObject({ workspace: "", scopes: [], key_needed: true, xtrack: null });
  });

  it("logs out by taking the cookie away", async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/api/v1/session`, { method: "DELETE" });
    expect(answer.headers.get("set-cookie")).toMatch(/^tributary_login=; .*Max-Age=0/);
  });

  it("is over when its browser has logged out, also for who kept the cookie", async () => {
    const one = await start({ flags, handlers: runs });
    const cookie = (await login(one.url, one.addKey(["read"]))).headers.get("set-cookie")?.split(";")[0] ?? "";
    const ask = (method: string, path: string) => fetch(one.url + path, { method, headers: { cookie } });
    expect((await ask("GET", "/api/v1/runs")).status).toBe(200);
    expect((await ask("DELETE", "/api/v1/session")).status).toBe(200);
    expect((await ask("GET", "/api/v1/runs")).status).toBe(401);
  });

  it("makes an address wait that tries key after key, and says for how long", async () => {
    const one = await start({ flags });
    const key = one.addKey(["read"]);
    for (let i = 0; i < 10; i++) expect((await login(one.url, `wrong-${i}`)).status).toBe(401);
    const late = await login(one.url, key);
    expect([late.status, Number(late.headers.get("retry-after")) > 0]).toEqual([429, true]);
    expect(await late.json()).toMatchObject({ code: "login_throttled" });
  });
});
