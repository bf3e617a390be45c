// deploy/nginx.conf and deploy/Caddyfile as they are, under Debian's nginx and Caddy, before a whole server: nobody gets
// in by accident, and everything that has a key passes.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createTestApp, type TestApp } from "../support/app.ts";
import { suiteFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { findTool, tools } from "../support/tools.ts";

const root = new URL("../../", import.meta.url).pathname;
const tls = join(root, "tests/fixtures/tls");
const name = "tributary.example.org";

const proxies = [
  { title: "nginx", program: findTool("nginx"), start: startNginx, isOptional: false },
  { title: "Caddy", program: findTool("caddy"), start: startCaddy, isOptional: tools.caddy.isOptional },
];

for (const { title, program, start, isOptional } of proxies) {
  if (program !== undefined || !isOptional)
    describe.skipIf(program === undefined)(`${title} with our file`, () => expectGuarded(program as string, start));
}

function expectGuarded(program: string, start: typeof startNginx): void {
  let app: TestApp;
  const folder = suiteFolder();
  let proxy: ChildProcess;
  let port: number;
  let key: string;

  beforeAll(async () => {
    const flags = { httpHosts: name, trustedProxies: "127.0.0.1", authLoopback: "key" };
    app = await createTestApp(flags);
    const made = await app.post("/api/v1/keys", JSON.stringify({ name: "k", scopes: ["admin"] }));
    key = (made.body as { key: string }).key;
    port = await freePort();
    proxy = start(program, folder, port, app.app.url);
    await waitUntilListening(port);
  });

  afterAll(async () => {
    proxy?.kill("SIGTERM");
    await app?.remove();
  });

  const ask = (path: string, options: AskOptions = {}) => send(port, path, options);
  const bearer = () => ({ authorization: `Bearer ${key}` });

  it("lets nobody in without a key, whatever they say of themselves", async () => {
    for (const headers of [{}, { "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }, bearerOf("wrong")]) {
      expect((await ask("/api/v1/runs", { headers })).status).toBe(401);
    }
    expect((await ask("/metrics")).status).toBe(403);
    expect((await ask("/healthz")).status).toBe(200);
  });

  it("lets keys, large bodies and logins through", async () => {
    expect((await ask("/api/v1/runs", { headers: bearer() })).status).toBe(200);
    const line = `{"record_type":"x","pad":"${"x".repeat(5_000_000)}"}\n`;
    const posted = await ask("/v1/trace-stream", { method: "POST", headers: bearer(), body: line });
    expect(posted.status).toBe(202);
    const login = await ask("/api/v1/session", {
      method: "POST",
      headers: { "content-type": "application/json", origin: `https://${hostOf(port)}` },
      body: JSON.stringify({ key }),
    });
    expect([login.status, login.cookie]).toEqual([200, expect.stringMatching(/; Secure/)]);
  });

  it("passes WebSockets with a key on, and refuses them without", async () => {
    const open = (headers: Record<string, string>) =>
      new Promise<string>((resolve) => {
        const options = { headers: { host: hostOf(port), ...headers }, ...anyCertificate };
        const socket = new WebSocket(`wss://127.0.0.1:${port}/v1/xtrack`, options);
        socket.on("open", () => {
          resolve("open");
          socket.terminate();
        });
        socket.on("error", (error) => resolve(error.message));
      });
    expect(await open(bearer())).toBe("open");
    expect(await open({ "x-forwarded-for": "127.0.0.1" })).toContain("401");
  });

  it("gives a live stream as it comes, not when it ends", async () => {
    const first = await new Promise<string>((resolve, reject) => {
      const options = { port, path: "/api/v1/live", headers: { host: hostOf(port), ...bearer() } };
      const asked = request({ host: "127.0.0.1", ...anyCertificate, ...options }, (answer) => {
        answer.once("data", (chunk: Buffer) => {
          resolve(String(chunk));
          asked.destroy();
        });
      });
      asked.once("error", reject);
      asked.end();
    });
    expect(first).toContain("event: hello");
  });
}

const bearerOf = (secret: string) => ({ authorization: `Bearer ${secret}` });
const hostOf = (port: number) => `${name}:${port}`;
/** The certificate is for this machine's address, and not for the name that the files have. */
const anyCertificate = { rejectUnauthorized: false, servername: "" };

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(port: number, path: string, { method = "GET", headers = {}, body }: AskOptions) {
  return new Promise<{ status: number | undefined; cookie: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method, ...anyCertificate };
    const asked = request({ ...options, headers: { host: hostOf(port), ...headers } }, (answer) => {
      answer.resume();
      answer.once("end", () =>
        resolve({ status: answer.statusCode, cookie: answer.headers["set-cookie"]?.join() ?? "" }),
      );
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

/** The file with nothing changed but the port, the certificate and where the collector listens. */
function startNginx(program: string, folder: string, port: number, url: string): ChildProcess {
  const site = readFileSync(join(root, "deploy/nginx.conf"), "utf8")
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${tls}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${tls}/key.pem;`)
    .replace("http://127.0.0.1:7077", url);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  for (const kind of temporary) mkdirSync(join(folder, kind));
  const paths = temporary.map((kind) => `  ${kind}_temp_path ${join(folder, kind)};`).join("\n");
  const main = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root;
events {}
http {
  access_log off;
${paths}
${site}}
`;
  writeFileSync(join(folder, "main.conf"), process.getuid?.() === 0 ? main : main.replace(" user root;", ""));
  return spawn(program, ["-p", folder, "-c", join(folder, "main.conf")], { stdio: "ignore" });
}

/** The file with the same changes. Its own administration, which is a port, and its redirection of port 80 are off. */
function startCaddy(program: string, folder: string, port: number, url: string): ChildProcess {
  const site = readFileSync(join(root, "deploy/Caddyfile"), "utf8")
    .replace(`${name} {`, `${name}:${port} {\n\tbind 127.0.0.1\n\ttls ${tls}/cert.pem ${tls}/key.pem`)
    .replace("127.0.0.1:7077", new URL(url).host);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn(program, ["run", "--config", file, "--adapter", "caddyfile"], { env, stdio: "ignore" });
}

async function waitUntilListening(port: number): Promise<void> {
  const isListening = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  while (!(await isListening())) await sleep(50);
}
