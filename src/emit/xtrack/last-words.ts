// Sends what is left while the process exits. The exiting thread gets no more events, so another thread connects, sends
// and waits for the collector's acks, while the exiting one blocks until everything is confirmed, the collector turns out
// to be away, or the time is up.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { LastWords, LastWordsJob } from "./last-words-worker.ts";

export const delivered = 1;
export const undelivered = 2;

const exitMsMax = 2000;
/** When the first run began to send its rest: several runs share the time. */
let beganMs: number | null = null;

/** How long the exiting process may still wait. */
export function toTimeLeftMs(): number {
  beganMs ??= performance.now();
  return Math.max(0, exitMsMax - (performance.now() - beganMs));
}

/** Whether the collector has confirmed everything. Blocks; never throws. */
export function sendLastWords(words: LastWords): boolean {
  try {
    // In the checkout the worker is TypeScript, in the package it is a bundle beside this one. A program that was bundled
    // as a whole has none.
    const file = new URL(`./last-words-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
    if (!existsSync(fileURLToPath(file))) return false;
    const cell = new SharedArrayBuffer(4);
    const workerData: LastWordsJob = { ...words, cell };
    // The user's flags are not meant for our thread.
    new Worker(file, { workerData, name: "tributary-last-words", execArgv: [], stdout: true, stderr: true });
    Atomics.wait(new Int32Array(cell), 0, 0, words.timeoutMs);
    return Atomics.load(new Int32Array(cell), 0) === delivered;
  } catch {
    return false;
  }
}
