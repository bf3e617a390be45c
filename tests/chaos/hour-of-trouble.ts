// An hour in which the engine is slow, stands still and refuses, and the server's time goes by so fast that it takes some
// seconds: its clock, and its pauses between two tries. So it tries as often as it would within an hour.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Victim } from "./victim.ts";

const hourS = 3600;
const rate = 180;

type Trouble = (victim: Victim, ms: number) => Promise<void>;

/** The engine stands still; its server replaces it when that takes too long. */
async function freeze(victim: Victim, ms: number): Promise<void> {
  victim.signal("engine", "SIGSTOP");
  await sleep(ms);
  victim.signal("engine", "SIGCONT");
}

/** A tenth of its time. */
async function slow(victim: Victim, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until; ) {
    await freeze(victim, 450);
    await sleep(50);
  }
}

/** It may open nothing: no table, no file of the outbox, no connection. */
async function refuse(victim: Victim, ms: number): Promise<void> {
  const pid = victim.enginePid;
  const usual = readLimit(pid);
  if (usual !== null) limitFiles(pid, "3");
  await sleep(ms);
  if (usual !== null) limitFiles(pid, usual);
}

async function kill(victim: Victim, ms: number): Promise<void> {
  victim.signal("engine", "SIGKILL");
  await sleep(ms);
}

/** How many files a process may open; null of one that is gone. */
function readLimit(pid: number): string | null {
  try {
    return /^Max open files +(\w+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The hard limit stays, so that the soft one may be raised again; an engine that is gone already is left alone. */
function limitFiles(pid: number, soft: string): void {
  spawnSync("prlimit", [`--pid=${pid}`, `--nofile=${soft}:`], { stdio: "ignore" });
}

const troubles: readonly Trouble[] = [freeze, slow, refuse, refuse, kill];

export async function hourOfTrouble(victim: Victim, random: () => number): Promise<void> {
  const { clockS } = victim;
  const began = performance.now();
  const passedS = (): number => ((performance.now() - began) / 1000) * rate;
  victim.setClock(clockS, rate);
  while (passedS() < hourS) {
    const trouble = troubles[Math.floor(random() * troubles.length)] as Trouble;
    await trouble(victim, 500 + random() * 2500);
  }
  victim.setClock(clockS + passedS());
  await victim.ready();
}
