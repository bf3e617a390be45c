// One process per data folder. The embedded engine locks its folder; with a remote store nothing else does, and two
// processes would write to one journal.

import { setTimeout as sleep } from "node:timers/promises";
import { findLiveOwner, removeOwner, writeOwner } from "#store/engine/owner.ts";
import { StoreOutage } from "#store/outage.ts";

/** Two starts at the same moment see each other within this time. */
const settleMs = 50;

/** Throws `folder_taken` when a running process of this machine has the folder. */
export async function lockFolder(dataDir: string) {
  refuseIfTaken(dataDir);
  writeOwner(dataDir, process.pid);
  await sleep(settleMs);
  refuseIfTaken(dataDir);
  return { release: () => removeOwner(dataDir) };
}

function refuseIfTaken(dataDir: string): void {
  const owner = findLiveOwner(dataDir, process.pid);
  if (owner !== null)
    throw new StoreOutage("folder_taken", `The data folder ${dataDir} is in use by process ${owner.pid}.`);
}
