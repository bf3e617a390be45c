// Rounds of kill -9 against a real server while batches are sent to it.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { eventually, freePort } from "./several.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const spansPerBatch = 20;

/** A real server in a process of its own, which can be killed and started again on the same folder. */
class Victim {
  private child: ChildProcess | null = null;
  private readonly dataDir: string;
  readonly url: string;
  private readonly port: number;

  constructor(dataDir: string, port: number) {
    this.dataDir = dataDir;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  async start(): Promise<void> {
    const flags = ["--data", this.dataDir, "--http", `127.0.0.1:${this.port}`, "--xtrack", "off", "--quiet"];
    this.child = spawn(process.execPath, [main, "up", ...flags], { stdio: ["ignore", "ignore", "inherit"] });
    const isReady = async () => (await fetch(`${this.url}/readyz`).catch(() => null))?.ok === true;
    await eventually(isReady, "the server did not start again");
  }

  killServer(): void {
    this.child?.kill("SIGKILL");
    this.child = null;
  }

  killEngine(): void {
    for (const pid of childrenOf(this.child?.pid ?? -1)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        // It has ended by itself since it was listed.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await exited;
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent ? [Number(name)] : [];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

const session = randomBytes(16).toString("hex");

function batch(at: number): { id: string; body: string } {
  const id = randomBytes(16).toString("hex");
  const spans = Array.from({ length: spansPerBatch }, (_, span) => ({
    id: randomBytes(16).toString("hex"),
    name: "step",
    parent_id: session,
    index: at * spansPerBatch + span,
    start_ns: 1794710396000000000 + at,
    end_ns: 1794710396000000000 + at + 1,
    thread_id: 1,
    pid: 1,
    rank: 0,
    attrs: {},
    mark_ids: [],
  }));
  return {
    id,
    body: JSON.stringify({
      schema_version: 1,
      sdk_version: "t",
      batch_id: id,
      created_ns: 1,
      spans,
      marks: [],
      snapshots: [],
    }),
  };
}

/** Sends a batch until it is taken, as a client does, and sends every third one twice. */
async function deliver(url: string, at: number): Promise<number> {
  const { body } = batch(at);
  for (let copies = at % 3 === 0 ? 2 : 1; copies > 0; ) {
    const response = await fetch(`${url}/v1/traces`, { method: "POST", body }).catch(() => null);
    if (response?.status === 202) copies--;
    else await sleep(30);
  }
  return spansPerBatch;
}

/** In turn the server, the engine and both are killed, `rounds` times each, while batches come in. */
export async function surviveKills(rounds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "tributary-kill-"));
  const victim = new Victim(dataDir, await freePort());
  try {
    await victim.start();
    let sent = 0;
    let at = 0;
    for (let round = 0; round < rounds * 3; round++) {
      const deliveries = Array.from({ length: 12 }, () => deliver(victim.url, at++));
      await sleep(Math.random() * 150);
      if (round % 3 !== 0) victim.killEngine();
      if (round % 3 !== 1) {
        victim.killServer();
        await victim.start();
      }
      for (const count of await Promise.all(deliveries)) sent += count;
    }
    expect((await fetch(`${victim.url}/readyz?drained=1`)).status).toBe(200);
    expect(await countSpans(victim.url)).toEqual([String(sent), String(sent), String(sent)]);
  } finally {
    await victim.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function countSpans(url: string): Promise<string[] | undefined> {
  const query = "SELECT count() AS n, uniqExact(id) AS ids, uniqExact(index) AS steps FROM TraceSpan";
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/sql`, { method: "POST", body: JSON.stringify({ query }), headers });
  return ((await answer.json()) as { rows: string[][] }).rows[0];
}
