// What rules have seen of runs before: here, whether or not the store has it yet, or at another collector. People are told
// of a firing once it is durable, and the run may be forgotten and come back before the store has taken it.

import type { RunId, Workspace } from "#model/names.ts";
import { readFirings, readOpenFirings } from "#store/reader/firings.ts";
import type { Store } from "#store/store.ts";
import { type Firing, type FiringRow, fromFiringRow } from "./firing.ts";

export interface SeenFirings {
  readonly store: Store;
  /** The store may not have them yet; in the order in which they were applied. */
  unstored(): readonly FiringRow[];
}

/** Of one run. */
const firingsMax = 1000;

/** The latest word on each, which comes last where there are several. */
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
