// The demo as a process: what it started goes with it, whatever ends it.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { childrenOf, isRunning } from "../support/process-tree.ts";

const main = new URL("../../src/main.ts", import.meta.url).pathname;
const addresses = ["--http", "127.0.0.1:0", "--xtrack", "127.0.0.1:0"];
let folder: string;
let demo: ChildProcess;
let ended: Promise<unknown>;

afterEach(async () => {
  if (demo.kill("SIGKILL")) await ended;
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves with its address when the sample is loaded. */
function startDemo(): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), "tributary-demo-"));
  demo = spawn(process.execPath, [main, "demo", "--data", join(folder, "data"), ...addresses], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let said = "";
    demo.stdout?.on("data", (text: Buffer) => {
      said += text.toString();
      const found = /^Open\s+(\S+)\/tour$/m.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    ended = new Promise((done) => demo.on("exit", done));
    void ended.then(() => reject(new Error(`the demo ended: ${said}`)));
  });
}

test.skipIf(process.platform !== "linux")(
  "a demo that is killed leaves nothing running, and nothing where it was started",
  async () => {
    const url = await startDemo();
    const running = async () => {
      const answer = await fetch(`${url}/api/v1/runs?filter=status%3Arunning`);
      return ((await answer.json()) as { total: number }).total;
    };
    await expect.poll(running, { timeout: 60_000 }).toBe(1);
    const started = childrenOf(demo.pid ?? 0);
    // The engine and the training.
    expect(started.length).toBeGreaterThanOrEqual(2);
    demo.kill("SIGKILL");
    await ended;
    const left = () => started.filter(isRunning);
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
    expect(readdirSync(folder)).toEqual(["data"]);
  },
  240_000,
);
