// On a store that several collectors share, the clock of another one may be ahead. What people change here must count after
// what it replaces, so the versions that are stored are noted first.

import { setTimeout as sleep } from "node:timers/promises";
import type { StateChange, StateTable } from "#model/state-tables.ts";
import { readNewestVersion } from "#store/reader/restore.ts";
import type { Store } from "#store/store.ts";
import type { StateVersions } from "./state-versions.ts";

const changedByPeople: ReadonlySet<StateTable> = new Set(["run_edits", "joins", "keys", "settings", "saved_views"]);
const waitMs = 2000;

export async function noteStoredVersions(
  { store, versions }: { readonly store: Store; readonly versions: StateVersions },
  changes: readonly StateChange[],
): Promise<void> {
  const tables = [...new Set(changes.map(({ table }) => table))].filter((table) => changedByPeople.has(table));
  if (store.kind !== "server" || tables.length === 0) return;
  // A store that is away keeps nobody from making a change, which waits in the journal.
  const newest = readNewestVersion(store, tables).catch(() => 0n);
  versions.note(await Promise.race([newest, sleep(waitMs, 0n, { ref: false })]));
}
