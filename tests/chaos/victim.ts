// A real server in a process of its own, on one folder and the same ports for all its lives.

import { type ChildProcess, spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { childrenOf, readStat } from "../support/process-tree.ts";

const root = join(import.meta.dirname, "../..");
const programs = { sources: join(root, "src/main.ts"), built: join(root, "dist/main.js") } as const;
const clock = join(import.meta.dirname, "../children/set-clock.ts");
/** Enough on a busy machine too. */
const startMs = 300_000;

export type Part = "server" | "engine";
/** The sources as they are, or what `npm run build` made of them, which is what people install. */
export type Program = keyof typeof programs;

/** A start of the server, until it was ready. */
export interface Start {
  /** The blow before it, with its round. */
  readonly after: string;
  readonly tookMs: number;
  /** Processor time of the server and its engine. */
  readonly costMs: number;
  /** What the server logged meanwhile. */
  readonly log: readonly string[];
}

/** Lines that are kept of a life, from its beginning on. */
const linesMax = 50;

export class Victim {
  private child: ChildProcess | null = null;
  readonly dataDir: string;
  readonly httpPort: number;
  readonly xtrackPort: number;
  readonly starts: Start[] = [];
  /** What is being done to it. */
  blow = "the beginning";
  /** How often the server was killed: what it had not made durable may happen again after each. */
  kills = 0;
  /** When its clock was set, by `performance.now()`. */
  readonly jumps: number[] = [];
  /** What it said last before it was ready. */
  said = "nothing";
  /** The first lines that the server of now logged. */
  private log: string[] = [];
  private readonly clockPath: string;
  readonly program: Program;

  private constructor(dataDir: string, program: Program, httpPort: number, xtrackPort: number) {
    this.dataDir = dataDir;
    this.program = program;
    this.httpPort = httpPort;
    this.xtrackPort = xtrackPort;
    this.clockPath = `${dataDir}.clock`;
    writeFileSync(this.clockPath, "0");
  }

  static async create(dataDir: string, program: Program = "sources"): Promise<Victim> {
    return new Victim(dataDir, program, await freePort(), await freePort());
  }

  get url(): string {
    return `http://127.0.0.1:${this.httpPort}`;
  }

  get pid(): number {
    return this.child?.pid ?? -1;
  }

  get enginePid(): number {
    return childrenOf(this.pid)[0] ?? -1;
  }

  /** How far the server's clock is from the real one. */
  clockS = 0;

  /** Sets the server's clock so far from the real one, from now on, and lets its time go by so many times as fast. */
  setClock(seconds: number, rate = 1): void {
    this.clockS = seconds;
    writeFileSync(this.clockPath, `${seconds} ${rate}`);
    this.jumps.push(performance.now());
  }

  launch(): void {
    const addresses = ["--http", `127.0.0.1:${this.httpPort}`, "--xtrack", `127.0.0.1:${this.xtrackPort}`];
    const words = ["--import", clock, programs[this.program], "up", "--data", this.dataDir, ...addresses];
    const settings = { TRIBUTARY_OTLP_GRPC: "off", TRIBUTARY_LOG_LEVEL: "info", TRIBUTARY_LOG_FORMAT: "json" };
    const child = spawn(process.execPath, words, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, ...settings, CHAOS_CLOCK: this.clockPath },
    });
    this.child = child;
    this.log = [];
    const { log } = this;
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.startsWith('{"level"') && log.length < linesMax) log.push(line);
      if (!/^{"level":"(info|warn)"/.test(line)) process.stderr.write(`${line}\n`);
    });
  }

  async start(): Promise<void> {
    const began = performance.now();
    this.launch();
    await this.ready();
    const tookMs = performance.now() - began;
    const costMs = processorMs(this.pid) + processorMs(this.enginePid);
    this.starts.push({ after: this.blow, tookMs, costMs, log: [...this.log] });
  }

  async ready(): Promise<void> {
    const until = performance.now() + startMs;
    this.said = "nothing";
    while (performance.now() < until) {
      const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null);
      if (response?.ok) return;
      this.said = (await response?.text().catch(() => undefined)) ?? this.said;
      if (this.child?.exitCode !== null && this.child?.exitCode !== undefined)
        throw new Error(`the server ended by itself with ${this.child.exitCode}`);
      await sleep(50);
    }
    throw new Error(`the server did not become ready, and said ${this.said}`);
  }

  /** Its answers to readiness checks and to the Health page. */
  async sentences(): Promise<{ readiness: string; page: string }> {
    const read = async (path: string): Promise<string> => (await fetch(this.url + path)).text();
    return { readiness: await read("/readyz"), page: await read("/api/v1/health") };
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
    if (signal === "SIGKILL") this.kills++;
    if (signal === "SIGTERM" && code !== 0) throw new Error(`a server that was asked to stop ended with ${code}`);
  }

  /** Ends both processes, of which an engine that stands still would outlive its server, and removes the folder. */
  async remove(): Promise<void> {
    this.signal("engine", "SIGKILL");
    await this.end("SIGKILL");
    this.forget();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Removes what lies beside its folder. */
  forget(): void {
    rmSync(this.clockPath, { force: true });
  }
}

/** The kernel counts hundredths of a second. */
function processorMs(pid: number): number {
  const stat = readStat(pid);
  return ((stat[11] ?? 0) + (stat[12] ?? 0)) * 10;
}
