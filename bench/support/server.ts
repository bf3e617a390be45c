// A real server in a child process and a temporary folder, and what the kernel reports about it and its engine.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { childrenOf, readStat } from "../../tests/support/process-tree.ts";

export interface BenchServer {
  readonly url: string;
  readonly xtrackPort: number;
  readonly dataDir: string;
  usage(): Promise<{ server: Usage; engine: Usage }>;
  /** Resolves once everything that was accepted is stored. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

export interface Usage {
  /** User and system time since the process began. */
  readonly cpuMs: number;
  readonly peakMiB: number;
  readonly nowMiB: number;
}

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const command = readFileSync(new URL("../../bin/tributary", import.meta.url), "utf8");
/** The flags and environment that the installed command starts Node with, so that the benchmarks measure the same server. */
const wordsOf = (line: RegExp): string[] => line.exec(command)?.[1]?.split(" ") ?? [];
const commandFlags = wordsOf(/^flags="(.+)"$/m);
const commandEnv = Object.fromEntries(wordsOf(/^memory="(.+)"$/m).map((word) => word.split("=")));
const tickMs = 10;

export interface StartOptions {
  /** An existing folder. Without it, a temporary one is used and removed at the end. */
  readonly dataDir?: string;
  /** Node's own flags, such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
  /** Settings of the server. With an external store it has no engine process to measure. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startServer({
  dataDir: given,
  nodeFlags = [],
  env = {},
}: StartOptions = {}): Promise<BenchServer> {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), "tributary-bench-")));
  const words = ["up", "--data", dataDir, "--http", "127.0.0.1:0", "--xtrack", "127.0.0.1:0"];
  const child = spawn(process.execPath, [...commandFlags, ...nodeFlags, main, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...commandEnv, ...process.env, ...env },
  });
  const { url, xtrackPort } = await readAddresses(child);
  const pid = child.pid as number;
  const enginePid = env["TRIBUTARY_STORE_URL"] === undefined ? await findChild(pid) : pid;
  return {
    url,
    xtrackPort,
    dataDir,
    usage: async () => ({ server: await readUsage(pid), engine: await readUsage(enginePid) }),
    async drained() {
      const answer = await fetch(`${url}/readyz?drained=1`);
      if (!answer.ok) throw new Error(`not drained: ${answer.status} ${await answer.text()}`);
    },
    async close() {
      child.kill("SIGTERM");
      await once(child, "exit");
      if (given === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export interface Measured<T> {
  readonly result: T;
  readonly acceptedS: number;
  readonly queryableS: number;
  readonly server: Usage;
  readonly engine: Usage;
  /** Processor time of this process, which acts as the clients. */
  readonly clientMs: number;
}

/** Runs `work`, then waits until all of it can be queried. Processor time covers both. */
export async function measure<T>(server: BenchServer, work: () => Promise<T>): Promise<Measured<T>> {
  const before = await server.usage();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const result = await work();
  const acceptedS = (performance.now() - began) / 1000;
  await server.drained();
  const queryableS = (performance.now() - began) / 1000;
  const spent = process.cpuUsage(cpu);
  const after = await server.usage();
  const minus = (a: Usage, b: Usage): Usage => ({ ...a, cpuMs: a.cpuMs - b.cpuMs });
  return {
    result,
    acceptedS,
    queryableS,
    server: minus(after.server, before.server),
    engine: minus(after.engine, before.engine),
    clientMs: (spent.user + spent.system) / 1000,
  };
}

/** The rows of an answer to SQL. */
export async function askSql({ url }: BenchServer, query: string): Promise<string[][]> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/sql`, { method: "POST", headers, body: JSON.stringify({ query }) });
  if (!answer.ok) throw new Error(`${query}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { rows: string[][] }).rows;
}

export interface BareServer {
  readonly port: number;
  usage(): Promise<Usage>;
  close(): Promise<void>;
}

/** See bare-server.ts. */
export async function startBare(kind: "tcp" | "http"): Promise<BareServer> {
  const program = new URL("bare-server.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [...commandFlags, program, kind], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return {
    port: Number(line.toString()),
    usage: () => readUsage(child.pid as number),
    async close() {
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    },
  };
}

/** Leaves the pipe open: a server that prints to a closed pipe would end. */
function readAddresses(child: ChildProcess): Promise<{ url: string; xtrackPort: number }> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const url = /Open\s+(http:\S+)/.exec(text)?.[1];
      const port = /XTrack\s+\S*:(\d+)/.exec(text)?.[1];
      if (url !== undefined && port !== undefined) resolve({ url, xtrackPort: Number(port) });
    });
    child.once("exit", () => reject(new Error(`the server did not start: ${text}`)));
  });
}

async function findChild(parent: number): Promise<number> {
  const until = performance.now() + 10_000;
  while (performance.now() < until) {
    const [found] = childrenOf(parent);
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the server has no engine process");
}

async function readUsage(pid: number): Promise<Usage> {
  const fields = readStat(pid);
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const miB = (pattern: RegExp): number => Math.round(Number(pattern.exec(status)?.[1] ?? 0) / 1024);
  return {
    cpuMs: ((fields[11] ?? 0) + (fields[12] ?? 0)) * tickMs,
    peakMiB: miB(/VmHWM:\s+(\d+)/),
    nowMiB: miB(/VmRSS:\s+(\d+)/),
  };
}

/** One sentence about where and when something was measured. */
export function describeMachine(): string {
  const [first, second] = [cpus().length, cpus()[0]?.model.trim()];
  return `${first} × ${second}, Node ${process.version}, ${process.platform}, load average ${loadavg()[0]?.toFixed(1)} at the end`;
}

/** Milliseconds of processor time over all threads, which does not depend on how busy the machine is. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Some quantiles of the same values, as a page shows them. */
export function quantiles(values: readonly number[], shares: readonly number[], digits: number): string {
  return shares.map((share) => quantile(values, share).toFixed(digits)).join(" · ");
}

/** Milliseconds until it is done. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

export function whole(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}
