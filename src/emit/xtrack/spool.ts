// Events that no collector took before the process ended, as a file of frames. `tributary import` reads it, and so does the
// next `tributary up` or `run` in the same folder:
//
//   <folder>/<milliseconds, 13 digits>-<pid>-<random>.xtrack.bin    the run's run_start frame · its other frames
//
// Written as `.tmp` and renamed, so that a named file is always whole. Reading one twice is harmless: every event has its
// run, worker and number.

import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#emit/make-folder.ts";

/** A collector that is never there must not fill the disk. */
const folderBytesMax = 1024 * 1024 * 1024;

export interface Spooled {
  readonly path: string;
  /** How many of the events are in it, the first ones. */
  readonly events: number;
  /** Why the others are not; null when all are. */
  readonly cause: unknown;
}

/** `start` is written before the events if it is not one of them. Throws when no event can be written. */
export function writeSpool(folder: string, start: Uint8Array | null, events: readonly Uint8Array[]): Spooled {
  makeFolder(folder);
  const frames = start === null ? events : [start, ...events];
  const bytes = Buffer.concat(frames);
  if (countBytes(folder) + bytes.length > folderBytesMax) throw new Error(`there are more than 1 GiB in ${folder}`);
  const time = String(Date.now()).padStart(13, "0");
  const path = join(folder, `${time}-${process.pid}-${randomBytes(4).toString("hex")}.xtrack.bin`);
  const begun = `${path}.tmp`;
  let whole = frames.length;
  let cause: unknown = null;
  try {
    writeFileSync(begun, bytes);
  } catch (error) {
    cause = error;
    whole = cutToFrames(begun, frames);
  }
  const written = whole - (frames.length - events.length);
  if (written <= 0) {
    rmSync(begun, { force: true });
    throw cause;
  }
  renameSync(begun, path);
  return { path, events: written, cause };
}

/** A full disk may have taken a part: keeps its whole frames, and returns their number. */
function cutToFrames(path: string, frames: readonly Uint8Array[]): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  let end = 0;
  let whole = 0;
  for (const { length } of frames) {
    if (end + length > size) break;
    end += length;
    whole++;
  }
  if (whole > 0) truncateSync(path, end);
  return whole;
}

function countBytes(folder: string): number {
  return readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
