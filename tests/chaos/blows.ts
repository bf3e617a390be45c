// What is done to a server while clients send to it. Each blow ends with the server ready again.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Part, Victim } from "./victim.ts";

type Random = () => number;
type Blow = (victim: Victim, random: Random) => Promise<void>;

async function killServer(victim: Victim): Promise<void> {
  await victim.end("SIGKILL");
  await victim.start();
}

async function killEngine(victim: Victim): Promise<void> {
  victim.signal("engine", "SIGKILL");
  await victim.ready();
}

async function killBoth(victim: Victim): Promise<void> {
  victim.signal("engine", "SIGKILL");
  await killServer(victim);
}

async function killWhileStarting(victim: Victim, random: Random): Promise<void> {
  await victim.end("SIGKILL");
  victim.launch();
  await sleep(random() * 1500);
  await killServer(victim);
}

async function stopAndStart(victim: Victim): Promise<void> {
  await victim.end("SIGTERM");
  await victim.start();
}

/** A stopped engine is replaced after ten seconds; a shorter stop is waited out. */
function freeze(part: Part, longestMs: number): Blow {
  return async (victim, random) => {
    victim.signal(part, "SIGSTOP");
    await sleep(random() * longestMs);
    victim.signal(part, "SIGCONT");
    await victim.ready();
  };
}

/** As when the power went in the middle of a write: bytes that nobody was told about, behind the last record. */
async function tearTail(victim: Victim, random: Random): Promise<void> {
  await victim.end("SIGKILL");
  const file = openSync(lastSegment(victim.dataDir), "a+");
  try {
    const { size } = fstatSync(file);
    const torn = Buffer.alloc(Math.min(size, 1 + Math.floor(random() * 4000)));
    // The beginning of an older record is what a half-written one looks like.
    readSync(file, torn, 0, torn.length, Math.floor(random() * (size - torn.length)));
    writeSync(file, torn);
  } finally {
    closeSync(file);
  }
  await victim.start();
}

/** The file system of the folder runs full for a few seconds. */
async function fillDisk(victim: Victim, random: Random): Promise<void> {
  const path = join(victim.dataDir, "filler");
  const file = openSync(path, "w");
  try {
    for (const zeros = Buffer.alloc(1 << 20); ; ) writeSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
  await sleep(500 + random() * 3000);
  rmSync(path);
  await victim.ready();
}

const failures = [
  ["fdatasync,fsync", "EIO"],
  ["fdatasync,fsync", "ENOSPC"],
  ["pwrite64,pwritev,pwritev2", "ENOSPC"],
  ["pwrite64,pwritev,pwritev2", "EIO"],
  ["openat", "EMFILE"],
] as const;

/** From a random one on, every third call of a kind fails for a while. */
async function failCalls(victim: Victim, random: Random): Promise<void> {
  const [calls, error] = failures[Math.floor(random() * failures.length)] as (typeof failures)[number];
  const inject = `inject=${calls}:error=${error}:when=${1 + Math.floor(random() * 5)}+3`;
  const words = ["-f", "-p", String(victim.pid), "-o", "/dev/null", "-e", `trace=${calls}`, "-e", inject];
  const tracer = spawn("strace", words, { stdio: "ignore" });
  const ended = once(tracer, "exit");
  await sleep(500 + random() * 2500);
  tracer.kill("SIGINT");
  await ended;
  await victim.ready();
}

function lastSegment(dataDir: string): string {
  const folder = join(dataDir, "journal");
  const names = readdirSync(folder).filter((name) => name.endsWith(".journal"));
  return join(folder, names.sort().at(-1) as string);
}

/** Only where the folder lies on a small file system of its own. */
export const fillTheDisk = "fill the disk";
/** Only where strace is installed and may attach. */
export const failSystemCalls = "fail system calls";

export const blows: Readonly<Record<string, Blow>> = {
  "kill the server": killServer,
  "kill the engine": killEngine,
  "kill both": killBoth,
  "kill while starting": killWhileStarting,
  "stop and start": stopAndStart,
  "freeze the engine": freeze("engine", 14_000),
  "freeze the server": freeze("server", 4000),
  "tear the journal's tail": tearTail,
  [fillTheDisk]: fillDisk,
  [failSystemCalls]: failCalls,
};
