// A folder that lives as long as one run of the tests: for what the test processes make once and use often, and, where
// the machine has room in memory, for all of their temporary folders. The engine syncs every insert to disk, and no test
// pulls the plug, so most tests would spend half of their time waiting for a disk. It also leaves nothing behind.

import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const runFolderVariable = "TRIBUTARY_TEST_FOLDER";

const memoryFolder = "/dev/shm";
/** Several times what the tests have been seen to use at once; long tests may need more than any memory. */
const roomBytes = 4 * 1024 ** 3;

/** Called by vitest before the first test process starts; what it returns is called after the last one has ended. */
export function setup(): () => void {
  const folder = mkdtempSync(join(hasRoom(memoryFolder) ? memoryFolder : tmpdir(), "tributary-run-"));
  process.env[runFolderVariable] = folder;
  process.env["TMPDIR"] = folder;
  // The many programs that tests start find each other's compiled modules there.
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true });
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
