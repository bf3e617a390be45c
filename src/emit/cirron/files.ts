// The few file operations the spool needs, behind one interface, so that a test can fail any of them.
// They are synchronous: they run inside the user's calls, in loops that may never yield, and at exit.

import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#emit/make-folder.ts";

interface SpoolFile {
  readonly name: string;
  readonly bytes: number;
}

export interface Files {
  makeDirectory(path: string): void;
  /** Creates or replaces the file; throws when not every byte could be written. */
  write(path: string, bytes: Uint8Array): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** The complete batches of a folder, unsorted. */
  list(path: string): SpoolFile[];
}

export const diskFiles: Files = {
  makeDirectory: makeFolder,
  write: (path, bytes) => {
    const file = openSync(path, "w", 0o644);
    try {
      // A disk that fills up takes part of a write: the next call then says why.
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at);
    } finally {
      closeSync(file);
    }
  },
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
  list: (path) => {
    const found: SpoolFile[] = [];
    for (const name of readdirSync(path)) {
      if (!name.endsWith(".json")) continue;
      try {
        found.push({ name, bytes: statSync(join(path, name)).size });
      } catch {
        // Another process evicted it meanwhile.
      }
    }
    return found;
  },
};
