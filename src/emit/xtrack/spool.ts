// Events that no collector took before the process ended, as a file of frames that `tributary import` reads, and that the
// next `tributary up` or `run` in the same folder takes in by itself:
//
//   <folder>/<milliseconds, 13 digits>-<pid>-<random>.xtrack.bin    the run's run_start frame · its other frames
//
// Written as `.tmp` and renamed, so that a named file is always whole. Reading one twice is harmless: every event has its
// run, worker and number.

import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#emit/make-folder.ts";

/** A collector that is never there must not fill the disk. */
const folderBytesMax = 1024 * 1024 * 1024;

/** Returns the file's path. Throws when it cannot be written. */
export function writeSpool(folder: string, frames: readonly Uint8Array[]): string {
  makeFolder(folder);
  const bytes = Buffer.concat(frames);
  if (countBytes(folder) + bytes.length > folderBytesMax) throw new Error(`there are more than 1 GiB in ${folder}`);
  const time = String(Date.now()).padStart(13, "0");
  const path = join(folder, `${time}-${process.pid}-${randomBytes(4).toString("hex")}.xtrack.bin`);
  writeFileSync(`${path}.tmp`, bytes);
  renameSync(`${path}.tmp`, path);
  return path;
}

function countBytes(folder: string): number {
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
