// A folder that lives as long as one run of the tests: for what the test processes make once and use often, and, where
// the machine has room in memory, for all of their temporary folders. The engine syncs every insert to disk, and no test
// pulls the plug, so most tests would spend half of their time waiting for a disk. It also leaves nothing behind.

import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const runFolderVariable = "TRIBUTARY_TEST_FOLDER";

/** The number of the process comes next. */
const namePrefix = "tributary-run-";

const memoryFolder = "/dev/shm";
/** Several times what the tests have been seen to use at once; long tests may need more than any memory. */
const roomBytes = 4 * 1024 ** 3;

/** Called by vitest before the first test process starts; what it returns is called after the last one has ended. */
export function setup(): () => void {
  const parent = hasRoom(memoryFolder) ? memoryFolder : tmpdir();
  removeLeftovers(parent);
  const folder = mkdtempSync(join(parent, `${namePrefix}${process.pid}-`));
  process.env[runFolderVariable] = folder;
  process.env["TMPDIR"] = folder;
  // The many programs that tests start find each other's compiled modules there.
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compiled");
  // A browser that was told to end may still be writing.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function hasRoom(path: string): boolean {
  if (process.env["TRIBUTARY_TEST_LONG"] === "1") return false;
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize >= roomBytes;
  } catch {
    return false;
  }
}

/** A run that was killed could not remove its folder, which may take memory. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(namePrefix) ? Number(name.slice(namePrefix.length).split("-")[0]) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
