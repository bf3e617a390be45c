// Empty folders for temporary files.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** Removed when the test is over that asks for it, or that a hook asks for. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** For all tests of a file or a suite. */
export function suiteFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tributary-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
