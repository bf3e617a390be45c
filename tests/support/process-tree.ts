// Processes as the kernel of Linux lists them.

import { readdirSync, readFileSync } from "node:fs";

export function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readStat(pid)[1] === parent);
}

/** One that has ended may still be listed until its parent has heard of it. */
export function isRunning(pid: number): boolean {
  return !["", "Z", "X"].includes(readFields(pid)[0] ?? "");
}

/** The fields of a process behind its name, as numbers; none when it has ended. */
export function readStat(pid: number): number[] {
  return readFields(pid).map(Number);
}

function readFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
