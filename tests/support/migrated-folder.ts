// Data folders whose store has its tables already. Making them takes the engine longer than starting does, and most
// tests are not about it: a process makes them once and copies the folder. Those that are about it start from nothing.

import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "#store/client.ts";
import { migrate } from "#store/schema/migrate.ts";
import { runFolderVariable } from "./run-folder.ts";

let original: Promise<string> | undefined;

export async function makeMigratedFolder(): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-test-"));
  const parent = process.env[runFolderVariable];
  // Outside vitest, as in a benchmark, nobody would remove the original.
  if (parent === undefined) return dataDir;
  original ??= makeOriginal(parent);
  // The engine's links are relative and have to stay so.
  cpSync(join(await original, "store"), join(dataDir, "store"), { recursive: true, verbatimSymlinks: true });
  return dataDir;
}

async function makeOriginal(parent: string): Promise<string> {
  const dataDir = mkdtempSync(join(parent, "store-"));
  const store = await createStore({ kind: "embedded", dataDir });
  await migrate(store);
  await store.close();
  return dataDir;
}
