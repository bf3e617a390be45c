// Child programs for the SDK's tests.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";

/** URL of a file of this checkout, for `import` in child programs. */
export function moduleUrl(path: string): string {
  return pathToFileURL(resolve(import.meta.dirname, "../..", path)).href;
}

interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Child {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when stdout holds the text. */
  said(text: string): Promise<void>;
  ended: Promise<ChildResult>;
}

/** Runs TypeScript source in a process of its own, in `folder`. */
export function startProgram(folder: string, source: string, env: Record<string, string> = {}): Child {
  const file = join(folder, "program.mts");
  writeFileSync(file, source);
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env["PATH"], NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  let stdout = "";
  let stderr = "";
  const listeners = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = new Promise<ChildResult>((done) => {
    child.on("close", (code, signal) => done({ code, signal, stdout, stderr }));
  });
  return {
    pid: child.pid as number,
    kill: (signal) => void child.kill(signal),
    said: (text) =>
      new Promise((done) => {
        const look = () => {
          if (!stdout.includes(text)) return;
          listeners.delete(look);
          done();
        };
        listeners.add(look);
        look();
      }),
    ended,
  };
}

export async function runProgram(folder: string, source: string, env: Record<string, string> = {}) {
  const result = await startProgram(folder, source, env).ended;
  if (result.stderr !== "") console.error(result.stderr);
  return result;
}
