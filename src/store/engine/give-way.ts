// What the engine does can wait, and those who wait for the server cannot: where both want a core, the server goes first.
// Linux weighs threads, so each of the engine's is told. Where it weighs sessions first (autogroups), the engine is one of its
// own, as heavy as the server and everything started beside it, and is told as a whole.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** In the system's unit of niceness: of what both want, the engine then gets about a quarter. */
const steps = 5;
const niceMax = 19;
/** The system takes one change of a session in a tenth of a second, whoever asks. */
const attemptsMax = 5;
const attemptMs = 150;

/** A system that does not allow it leaves the two as equals. */
export async function giveWay(pid: number): Promise<void> {
  const nice = Math.min(niceMax, getPriority() + steps);
  for (const thread of threadsOf(pid)) lower(thread, nice);
  if (sessionNiceOf(pid) === null) return;
  // A server that a container's first process started without a session of its own counts as not nice at all.
  const sessionNice = Math.min(niceMax, (sessionNiceOf("self") ?? 0) + steps);
  for (let attempt = 0; attempt < attemptsMax && sessionNiceOf(pid) !== sessionNice; attempt++) {
    if (attempt > 0) await sleep(attemptMs, undefined, { ref: false });
    lowerSession(pid, sessionNice);
  }
}

/** New threads are as heavy as those that start them. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

function lower(id: number, nice: number): void {
  try {
    setPriority(id, nice);
  } catch {
    // It has ended.
  }
}

/** Null where sessions are not weighed, or cannot be asked. */
function sessionNiceOf(pid: number | "self"): number | null {
  try {
    const found = / nice (-?\d+)$/m.exec(readFileSync(`/proc/${pid}/autogroup`, "utf8"));
    return found === null ? null : Number(found[1]);
  } catch {
    return null;
  }
}

function lowerSession(pid: number, nice: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // Too soon after another, or not allowed.
  }
}
