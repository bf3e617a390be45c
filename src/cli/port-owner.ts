// Which process listens on a port of this machine, as far as Linux tells this user; unknown on other systems.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface PortOwner {
  readonly pid: number;
  /** Its command line, cut. */
  readonly command: string;
}

const listening = "0A";
const commandCharsMax = 80;

export function findPortOwner(port: number): PortOwner | undefined {
  const inodes = new Set(["tcp", "tcp6"].flatMap((table) => inodesOf(readText(`/proc/net/${table}`), port)));
  if (inodes.size === 0) return undefined;
  const pids = list("/proc").filter((name) => /^\d+$/.test(name));
  const pid = pids.find((one) => list(`/proc/${one}/fd`).some((fd) => inodes.has(inodeOf(`/proc/${one}/fd/${fd}`))));
  if (pid === undefined) return undefined;
  const command = readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
  const short = command.length > commandCharsMax ? `${command.slice(0, commandCharsMax)}…` : command;
  return { pid: Number(pid), command: short };
}

/** Of the sockets that listen on the port. A line: number, local address, remote address, state, …, inode. */
function inodesOf(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return table.split("\n").flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    return fields[1]?.endsWith(ending) && fields[3] === listening ? [fields[9] as string] : [];
  });
}

function inodeOf(path: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? "";
  } catch {
    return "";
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
