// The engine's work can wait; people who wait for the server cannot. So where both want a core, the server goes first.
// Linux weighs threads, so the niceness of each engine thread is raised. Where it weighs sessions first (autogroups),
// the engine is a session of its own, with the same weight as the server and everything started beside it, so the
// niceness of the session is raised.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** In units of niceness: under contention the engine then gets about a quarter. */
const steps = 5;
const niceMax = 19;
/** The system accepts one change of a session per tenth of a second, whoever makes it. */
const attemptsMax = 5;
const attemptMs = 150;

/** If the system does not permit it, the two stay equals. */
export async function giveWay(pid: number): Promise<void> {
  const nice = Math.min(niceMax, getPriority() + steps);
  for (const thread of threadsOf(pid)) lower(thread, nice);
  if (sessionNiceOf(pid) === null) return;
  // The server may have no session of its own to read, if the first process of a container started it.
  const sessionNice = Math.min(niceMax, (sessionNiceOf("self") ?? 0) + steps);
  for (let attempt = 0; attempt < attemptsMax && sessionNiceOf(pid) !== sessionNice; attempt++) {
    if (attempt > 0) await sleep(attemptMs, undefined, { ref: false });
    lowerSession(pid, sessionNice);
  }
}

/** New threads inherit the niceness of the thread that starts them. */
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

/** Null if sessions are not weighed, or cannot be read. */
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
