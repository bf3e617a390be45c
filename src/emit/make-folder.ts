// Folders with their parents. Not `mkdirSync(…, { recursive: true })`: on file systems that answer ENOENT to every
// mkdir, such as /proc, it never returns, and a mistyped path must not hang the program.

import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Throws when the folder cannot be made. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || statSync(parent, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(parent);
    makeOne(path);
  }
}

/** Another process may make the same folder at the same time. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
