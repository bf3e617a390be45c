// A collector in a process of its own, on one folder: to be killed, stopped and started again.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { eventually, freePort } from "./several.ts";

/** Also on a machine that has much else to do. */
const startMs = 120_000;
const main = join(import.meta.dirname, "../../src/main.ts");

export class CollectorProcess {
  readonly url: string;
  readonly xtrackPort: number;
  private readonly flags: readonly string[];
  private readonly env: NodeJS.ProcessEnv;
  private child: ChildProcess | null = null;

  private constructor(dataDir: string, ports: readonly [number, number], env: NodeJS.ProcessEnv) {
    this.url = `http://127.0.0.1:${ports[0]}`;
    this.xtrackPort = ports[1];
    const listen = ["--http", `127.0.0.1:${ports[0]}`, "--xtrack", `127.0.0.1:${ports[1]}`];
    this.flags = ["up", "--data", dataDir, ...listen, "--quiet"];
    this.env = env;
  }

  static async make(dataDir: string, env: NodeJS.ProcessEnv): Promise<CollectorProcess> {
    return new CollectorProcess(dataDir, [await freePort(), await freePort()], env);
  }

  /** Resolves when it answers, whether or not its store does. */
  async start(): Promise<void> {
    const env = { ...process.env, ...this.env };
    this.child = spawn(process.execPath, [main, ...this.flags], { stdio: ["ignore", "ignore", "inherit"], env });
    await eventually(
      async () => (await fetch(`${this.url}/healthz`).catch(() => null))?.ok === true,
      "the collector did not start",
      startMs,
    );
  }

  get pid(): number {
    return this.child?.pid as number;
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
  }

  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** As an operator stops it. */
  async stop(): Promise<void> {
    const code = await this.end("SIGTERM");
    if (code !== null && code !== 0) throw new Error(`a collector that was asked to stop ended with ${code}`);
  }

  /** Its exit code; null of one that ended before. */
  private async end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    if (child === null || child.signalCode !== null || child.exitCode !== null) return null;
    const exited = once(child, "exit") as Promise<[number | null]>;
    child.kill(signal);
    return (await exited)[0];
  }
}
