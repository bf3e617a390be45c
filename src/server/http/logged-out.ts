// Logins that were ended early. A login itself is kept nowhere, so it survives a restart; a file of the data folder
// lists the hashes of those that no longer count, until they expire.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { writeSyncedNow } from "#base/durable-file.ts";

export class LoggedOut {
  private readonly path: string | null;
  /** When each login would have expired, in ms since the epoch, by its hash. */
  private readonly ends = new Map<string, number>();

  /** Without a path nothing outlives the process. */
  constructor(path: string | null, nowMs: number = Date.now()) {
    this.path = path;
    if (path === null || !existsSync(path)) return;
    const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
    for (const [hash = "", end = ""] of lines.map((line) => line.split(" ")))
      if (Number(end) > nowMs) this.ends.set(hash, Number(end));
    if (this.ends.size < lines.length) shorten(path, [...this.ends].map(toLine).join(""));
  }

  has(login: string): boolean {
    return this.ends.size > 0 && this.ends.has(hashOf(login));
  }

  /** `login` is the value of a cookie that counts until now. After this it never counts again, even if the power fails. */
  add(login: string): void {
    const hash = hashOf(login);
    if (this.ends.has(hash)) return;
    const entry: [string, number] = [hash, Number(login.split(".")[1])];
    this.ends.set(...entry);
    if (this.path !== null) writeSyncedNow(this.path, toLine(entry), "a");
  }
}

/** A file that is longer than needed is harmless, so a full disk keeps no server from starting. */
function shorten(path: string, text: string): void {
  try {
    writeSyncedNow(`${path}.tmp`, text, "w");
    renameSync(`${path}.tmp`, path);
  } catch {
    rmSync(`${path}.tmp`, { force: true });
  }
}

function hashOf(login: string): string {
  return createHash("sha256").update(login).digest("base64url");
}

function toLine([hash, endMs]: readonly [string, number]): string {
  return `${hash} ${endMs}\n`;
}
