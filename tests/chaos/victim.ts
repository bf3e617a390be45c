// A real server in a process of its own, on one folder and the same ports for all its lives.

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";

const main = join(import.meta.dirname, "../../src/main.ts");
const startMs = 120_000;

export type Part = "server" | "engine";

export class Victim {
  private child: ChildProcess | null = null;
  readonly dataDir: string;
  readonly httpPort: number;
  readonly xtrackPort: number;
  /** Milliseconds from each start until it was ready. */
  readonly starts: number[] = [];

  private constructor(dataDir: string, httpPort: number, xtrackPort: number) {
    this.dataDir = dataDir;
    this.httpPort = httpPort;
    this.xtrackPort = xtrackPort;
  }

  static async create(dataDir: string): Promise<Victim> {
    return new Victim(dataDir, await freePort(), await freePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  get pid(): number {
    return this.child?.pid ?? -1;
  }

  launch(): void {
    const addresses = ["--http", `127.0.0.1:${this.httpPort}`, "--xtrack", `127.0.0.1:${this.xtrackPort}`];
    this.child = spawn(process.execPath, [main, "up", "--data", this.dataDir, ...addresses, "--quiet"], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  async start(): Promise<void> {
    const began = performance.now();
    this.launch();
    await this.ready();
    this.starts.push(performance.now() - began);
  }

  async ready(): Promise<void> {
    const until = Date.now() + startMs;
    let said = "nothing";
    while (Date.now() < until) {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
      if (response?.ok) return;
      said = (await response?.text().catch(() => undefined)) ?? said;
      if (this.child?.exitCode !== null && this.child?.exitCode !== undefined)
        throw new Error(`the server ended by itself with ${this.child.exitCode}`);
      await sleep(50);
    }
    throw new Error(`the server did not become ready, and said ${said}`);
  }

  /** A process that is gone already is left alone. */
  signal(part: Part, signal: NodeJS.Signals): void {
    const pid = this.child?.pid ?? -1;
    for (const target of part === "server" ? [pid] : childrenOf(pid)) {
      try {
        if (target > 0) process.kill(target, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill(signal);
    const code = await exited;
    if (signal === "SIGTERM" && code !== 0) throw new Error(`a server that was asked to stop ended with ${code}`);
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
