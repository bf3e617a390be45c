// A folder that lives as long as one run of the tests, for what the test processes make once and use often.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const runFolderVariable = "TRIBUTARY_TEST_FOLDER";

/** Called by vitest before the first test process starts; what it returns is called after the last one has ended. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "tributary-run-"));
  process.env[runFolderVariable] = folder;
  // The many programs that tests start find each other's compiled modules there.
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true });
}
