// Data folders whose store has its tables already. Making them takes the engine longer than starting does, and most
// tests are not about it: a run makes them once and copies the folder. Those that are about it start from nothing.

import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createStore } from "#store/client.ts";
import { startEmbedded } from "#store/embedded.ts";
import { migrate } from "#store/schema/migrate.ts";
import { runFolderVariable } from "./run-folder.ts";
import { openTcpDoor } from "./tcp-door.ts";

/** Who opens the store: one collector as its own, or several by URL, for whom the tables differ a little. */
type Kind = "embedded" | "server";

const originals: { [K in Kind]?: Promise<string> } = {};

export async function makeMigratedFolder(kind: Kind = "embedded"): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-test-"));
  const parent = process.env[runFolderVariable];
  // Outside vitest, as in a benchmark, nobody would remove the original.
  if (parent === undefined) return dataDir;
  originals[kind] ??= findOriginal(parent, kind);
  // The engine's links are relative and have to stay so.
  cpSync(join(await originals[kind], "store"), join(dataDir, "store"), { recursive: true, verbatimSymlinks: true });
  return dataDir;
}

/** One test process makes it, the others wait; of one that fails the next takes over. */
async function findOriginal(parent: string, kind: Kind): Promise<string> {
  const whole = join(parent, `store-${kind}`);
  const making = `${whole}-making`;
  while (!existsSync(whole)) {
    if (!tryMake(making)) {
      await sleep(50);
      continue;
    }
    try {
      if (!existsSync(whole)) renameSync(await makeOriginal(parent, kind), whole);
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

async function makeOriginal(parent: string, kind: Kind): Promise<string> {
  const dataDir = mkdtempSync(join(parent, "new-store-"));
  if (kind === "embedded") {
    const store = await createStore({ kind, dataDir });
    await migrate(store);
    await store.close();
    return dataDir;
  }
  const engine = await startEmbedded({ kind: "embedded", dataDir });
  const door = await openTcpDoor(engine.socketPath);
  const account = { database: "tributary", user: "default", password: "", guestUser: "guest" };
  const store = await createStore({ kind, url: door.url, ...account });
  await migrate(store);
  await store.close();
  door.close();
  await engine.close();
  return dataDir;
}
