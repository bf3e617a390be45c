// The balancer of the compose file, run as it is with Debian's HAProxy before two collectors: only addresses are changed.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRun } from "#emit/xtrack.ts";
import { toBatchText } from "../support/cirron-batch.ts";
import { suiteFolder } from "../support/folder.ts";
import { eventually, freePort, natsPath, openPair, type Pair } from "../support/several.ts";
import { findTool } from "../support/tools.ts";

const haproxy = findTool("haproxy");
/** Who comes through a proxy is not local. */
const adminKey = "balanced-".padEnd(32, "k");
const authorization = `Bearer ${adminKey}`;
let pair: Pair;
const folder = suiteFolder();
let balancer: ChildProcess;
let url: string;
let xtrackPort: number;

describe.skipIf(natsPath === undefined || haproxy === undefined)("HAProxy before two collectors", () => {
  beforeAll(async () => {
    const [httpPort, workerPort] = [await freePort(), await freePort()];
    xtrackPort = workerPort;
    url = `http://127.0.0.1:${httpPort}`;
    pair = await openPair({ trustedProxies: "127.0.0.1", adminKey });
    const path = join(folder, "haproxy.cfg");
    await writeFile(path, await localConfig(httpPort, workerPort));
    execFileSync(haproxy as string, ["-c", "-q", "-f", path]);
    balancer = spawn(haproxy as string, ["-db", "-f", path], { stdio: "ignore" });
    await eventually(
      async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200,
      "no collector is up for the balancer",
    );
  });
  afterAll(async () => {
    balancer?.kill();
    if (balancer !== undefined && balancer.exitCode === null) await once(balancer, "exit");
    await pair?.remove();
  });

  test("passes batches and questions on", async () => {
    const batch = toBatchText("balanced", [{ id: "root", parent: null, name: "cirron.session", at: 0 }]);
    const headers = { "content-type": "application/json", authorization };
    const posted = await fetch(`${url}/v1/runs/balanced/traces?wait=1`, { method: "POST", body: batch, headers });
    expect(posted.status).toBe(202);
    const run = (await (await fetch(`${url}/api/v1/runs/balanced`, { headers })).json()) as {
      counts: { spans: number };
    };
    expect(run.counts.spans).toBe(1);
  });

  test("passes live events on as they come", async () => {
    const stop = new AbortController();
    const live = await fetch(`${url}/api/v1/live`, { signal: stop.signal, headers: { authorization } });
    const reader = (live.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toContain("hello");
    stop.abort();
    await reader.cancel().catch(() => undefined);
  });

  test("passes XTrack workers on", async () => {
    const transport = { kind: "tcp", host: "127.0.0.1", port: xtrackPort } as const;
    const run = startRun({ id: "worker", workerId: "w0", transport, source: false, env: false });
    run.metric("loss", 1, { step: 1 });
    const shown = async () => {
      const { metrics } = (await (
        await fetch(`${url}/api/v1/runs/worker/metrics`, { headers: { authorization } })
      ).json()) as {
        metrics?: { count: number }[];
      };
      return metrics?.[0]?.count;
    };
    await eventually(async () => (await shown()) === 1, "the first point did not come");
    await run.end({ timeoutMs: 5000 });
  });

  async function localConfig(httpPort: number, workerPort: number): Promise<string> {
    const text = await readFile(new URL("../../deploy/haproxy.cfg", import.meta.url), "utf8");
    const portOf = (address: string | undefined) => String(address).split(":").at(-1);
    let config = text
      .replace("bind :7077", `bind 127.0.0.1:${httpPort}`)
      .replace("bind :9999", `bind 127.0.0.1:${workerPort}`);
    for (const [name, { app }] of [
      ["collector-1", pair.a],
      ["collector-2", pair.b],
    ] as const)
      config = config
        .replace(`${name}:7077`, `127.0.0.1:${portOf(app.url)}`)
        .replace(`${name}:9999`, `127.0.0.1:${portOf(app.xtrack[0])}`);
    return config;
  }
});
