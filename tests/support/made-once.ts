// Folders that take long to make, which a run of the tests makes once and copies as often as it needs them.

import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runFolderVariable } from "./run-folder.ts";

const originals = new Map<string, Promise<string>>();

/** A copy that the caller may change and removes. `make` gives a temporary folder, which nobody uses any more. */
export async function copyMadeOnce(name: string, make: () => Promise<string>): Promise<string> {
  const parent = process.env[runFolderVariable];
  // Outside vitest, as in a benchmark, nobody would remove the original.
  if (parent === undefined) return make();
  const original = originals.get(name) ?? findOriginal(join(parent, name), make);
  originals.set(name, original);
  const folder = mkdtempSync(join(tmpdir(), "tributary-test-"));
  // The engine's links are relative and have to stay so.
  cpSync(await original, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** One test process makes it, the others wait; of one that fails the next takes over. */
async function findOriginal(whole: string, make: () => Promise<string>): Promise<string> {
  const making = `${whole}-making`;
  while (!existsSync(whole)) {
    if (!tryMake(making)) {
      await sleep(50);
      continue;
    }
    try {
      if (!existsSync(whole)) renameSync(await make(), whole);
    } finally {
      rmSync(making, { recursive: true });
    }
  }
  return whole;
}

function tryMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
