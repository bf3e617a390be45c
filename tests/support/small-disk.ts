// A disk of a given size, for what happens when it is full.

import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Null where nobody may mount one. The disk goes when the test ends. */
export function mountDisk(size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), "tributary-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return null;
  }
  onTestFinished(() => {
    // The engine of a server that was killed has it a moment longer.
    execFileSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Writes until not one more byte fits. */
export function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let bytes = 1 << 20; bytes >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(bytes));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        bytes >>= 4;
      }
    }
  } finally {
    closeSync(file);
  }
}
