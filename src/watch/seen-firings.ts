// What rules have seen in runs before, at this collector or another one. People hear of a firing as soon as it is durable,
// and a run may be forgotten and come back before the store has the row, so rows that are not stored yet count too.

import type { RunId, Workspace } from "#model/names.ts";
import { readFirings, readOpenFirings } from "#store/reader/firings.ts";
import type { Store } from "#store/store.ts";
import { type Firing, type FiringRow, fromFiringRow } from "./firing.ts";

export interface SeenFirings {
  readonly store: Store;
  /** Rows that the store may not have yet, in the order in which they were applied. */
  unstored(): readonly FiringRow[];
}

/** Of one run. */
const firingsMax = 1000;

/** Of a firing with several rows the latest comes last. */
export async function readSeenFirings(
  { store, unstored }: SeenFirings,
  workspace: Workspace,
  runs: readonly RunId[],
): Promise<Firing[]> {
  // Before the store is asked: what it takes meanwhile is in its answer.
  const own = unstored().filter((row) => row.workspace === workspace && runs.includes(row.run_id));
  const stored = await readFirings(store, { workspace, runs, rule: null, limit: firingsMax * runs.length });
  return [...stored, ...own].sort((a, b) => Number(a.version - b.version)).map(fromFiringRow);
}

/** Those that are not over, of rules other than these. */
export async function readOthersOpen(
  { store, unstored }: SeenFirings,
  workspace: Workspace,
  rules: readonly string[],
): Promise<Firing[]> {
  const own = unstored().filter((row) => row.workspace === workspace && !rules.includes(row.rule));
  const stored = await readOpenFirings(store, workspace, rules);
  const latest = new Map([...stored, ...own].map((row) => [row.firing_id, row]));
  return [...latest.values()].map(fromFiringRow).filter(({ resolvedNs }) => resolvedNs === null);
}
