// Which server owns a data folder. Two locks work together:
//   - chDB's own lock on its folder, held by the engine process and gone when that process is, however it ends;
//   - `owner.json`, the server's pid, because the engine may be between two lives while its server is not.
// Only a process that holds the first may write the second, so two starting servers cannot both take a stale one.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { ownFolders } from "./engine-config.ts";

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When the process started, as the system says it, so that a later process with the same pid is not taken for it. */
  readonly started: string;
  /** Identifies the folder, since a copy of it has a copy of this file; absent in files of older releases. */
  readonly folder?: string;
  /** It opened the folder for one command. */
  readonly brief?: true;
}

export interface LiveOwner {
  readonly pid: number;
  readonly isBrief: boolean;
}

/** The living server other than `ownPid` that owns the folder, or null. */
export function findLiveOwner(dataDir: string, ownPid: number): LiveOwner | null {
  const owner = readOwner(dataDir);
  if (owner === null || owner.pid === ownPid) return null;
  // On another host or in another container the pid says nothing; there the engine's lock alone decides.
  if (owner.host !== hostname()) return null;
  if (owner.folder !== undefined && owner.folder !== nameOf(dataDir)) return null;
  return readStart(owner.pid) === owner.started ? { pid: owner.pid, isBrief: owner.brief === true } : null;
}

export function writeOwner(dataDir: string, pid: number, isBrief = false): void {
  const base: Owner = { pid, host: hostname(), started: readStart(pid) ?? "", folder: nameOf(dataDir) };
  const owner: Owner = isBrief ? { ...base, brief: true } : base;
  const path = ownerPath(dataDir);
  try {
    // With a remote store, no engine has created this folder.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.tmp`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(`${path}.tmp`, path);
  } catch (error) {
    // A full disk must not prevent a start; until there is room, the engine's lock alone decides.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    rmSync(`${path}.tmp`, { force: true });
    rmSync(path, { force: true });
  }
}

/** Part of an orderly end, while the engine's lock is still held. */
export function removeOwner(dataDir: string): void {
  rmSync(ownerPath(dataDir), { force: true });
}

/** Distinguishes a folder from its copies, whatever their paths. */
function nameOf(dataDir: string): string {
  const { dev, ino } = statSync(dataDir, { bigint: true });
  return `${dev}:${ino}`;
}

function ownerPath(dataDir: string): string {
  return join(ownFolders(dataDir).config, "owner.json");
}

function readOwner(dataDir: string): Owner | null {
  try {
    const owner = JSON.parse(readFileSync(ownerPath(dataDir), "utf8")) as Owner;
    return Number.isInteger(owner.pid) && owner.pid > 0 ? owner : null;
  } catch {
    // Absent, or half written by a server that is gone.
    return null;
  }
}

/** Null when there is no such process. */
function readStart(pid: number): string | null {
  try {
    if (process.platform !== "linux") {
      return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || null;
    }
    // The command name may hold blanks and parentheses; fields are counted after the last one. Start is the 22nd.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return null;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}
