// From an id to a run: any id or alias that it was ever known by leads to it.

import type { Sources } from "#query/sources.ts";
import { type NamedRun, type RunGroup, readAliases, readGroupsOfRuns, readNamedRuns } from "#store/reader/run-names.ts";

export type { RunGroup };

/** A run that an id led to. */
export interface FoundRun {
  readonly runId: string;
  readonly groups: readonly RunGroup[];
  readonly aliases: readonly string[];
  /** Other runs that the same id names. */
  readonly also: readonly string[];
}

/** A canonical id wins over an alias, then the run that started last; the others are named beside it. */
export async function findRun({ store }: Sources, workspace: string, id: string): Promise<FoundRun | null> {
  const named = await readNamedRuns(store, workspace, [id]);
  const runId = chooseRun(named, id);
  if (runId === undefined) return null;
  const also = [...new Set(named.map((one) => one.runId))].filter((other) => other !== runId);
  const groups = await readGroupsOfRuns(store, workspace, [runId]);
  return { runId, groups, aliases: await readAliases(store, workspace, groupKeysOf({ groups })), also };
}

export function groupKeysOf({ groups }: Pick<FoundRun, "groups">): string[] {
  return groups.map((group) => group.groupKey);
}

/** The runs that the records of a run name, its own id first: more than one when people joined them. */
export function ownRunsOf({ runId, groups }: Pick<FoundRun, "runId" | "groups">): string[] {
  return [...new Set([runId, ...groups.map((group) => group.ownRun)])];
}

/** These runs, whose ids are canonical, in two questions for any number of them. */
export async function readFoundRuns(
  { store }: Sources,
  workspace: string,
  ids: readonly string[],
): Promise<FoundRun[]> {
  const groups = Map.groupBy(await readGroupsOfRuns(store, workspace, ids), (group) => group.run);
  return ids.map((runId) => ({ runId, groups: groups.get(runId) ?? [], aliases: [], also: [] }));
}

/** The groups of the run that each id means, none when it means nothing: two questions for any number of ids. */
export async function findGroups(
  { store }: Sources,
  workspace: string,
  ids: readonly string[],
): Promise<Map<string, RunGroup[]>> {
  const namedBy = Map.groupBy(await readNamedRuns(store, workspace, ids), ({ alias }) => alias);
  const runOf = new Map(ids.map((id) => [id, chooseRun(namedBy.get(id) ?? [], id)]));
  const runs = [...new Set(runOf.values())].filter((run) => run !== undefined);
  const groupsOf = Map.groupBy(await readGroupsOfRuns(store, workspace, runs), (group) => group.run);
  return new Map(ids.map((id) => [id, groupsOf.get(runOf.get(id) ?? "") ?? []]));
}

function chooseRun(named: readonly NamedRun[], id: string): string | undefined {
  if (named.some(({ runId }) => runId === id)) return id;
  return named.toSorted((a, b) => Number((b.last ?? 0n) - (a.last ?? 0n)))[0]?.runId;
}
