// From an id to a run: any id or alias that it was ever known by leads to it.

import type { RunId, Workspace } from "#model/names.ts";
import type { Sources } from "#query/sources.ts";
import {
  type NamedRun,
  type RunGroup,
  readAliases,
  readGroupsOfRuns,
  readNamedGroups,
  readNamedRuns,
} from "#store/reader/run-names.ts";

export type { RunGroup };

/** A run that an id led to. */
export interface FoundRun {
  readonly runId: RunId;
  readonly groups: readonly RunGroup[];
  /** Other runs that the same id names. */
  readonly also: readonly string[];
}

/** A canonical id wins over an alias, then the run that started last; the others are named beside it. */
export async function findRun({ store }: Sources, workspace: Workspace, id: string): Promise<FoundRun | null> {
  const named = await readNamedGroups(store, workspace, [id]);
  if (named.length === 0) return null;
  const own = named.filter((group) => group.run === id);
  const runId = own.length > 0 ? id : chooseRun(await readNamedRuns(store, workspace, [id]));
  if (runId === undefined) return null;
  const also = [...new Set(named.map((group) => group.run))].filter((other) => other !== runId);
  // An alias may name some groups of a run only.
  const groups = own.length > 0 ? own : await readGroupsOfRuns(store, workspace, [runId]);
  return { runId, groups, also };
}

export function groupKeysOf({ groups }: Pick<FoundRun, "groups">): string[] {
  return groups.map((group) => group.groupKey);
}

/** Its id, then every other that it was ever known by. */
export async function readNames({ store }: Sources, workspace: Workspace, run: FoundRun): Promise<string[]> {
  const aliases = await readAliases(store, workspace, groupKeysOf(run));
  return [run.runId, ...aliases.filter((alias) => alias !== run.runId)];
}

/** The runs that the records of a run name, its own id first: more than one when people joined them. */
export function ownRunsOf({ runId, groups }: Pick<FoundRun, "runId" | "groups">): string[] {
  return [...new Set([runId, ...groups.map((group) => group.ownRun)])];
}

/** These runs, whose ids are canonical, in one question for any number of them. */
export async function readFoundRuns(
  { store }: Sources,
  workspace: Workspace,
  ids: readonly string[],
): Promise<FoundRun[]> {
  const groups = Map.groupBy(await readGroupsOfRuns(store, workspace, ids), (group) => group.run);
  return ids.map((runId) => ({ runId, groups: groups.get(runId) ?? [], also: [] }));
}

/** The groups of the run that each id means, none when it means nothing: one question, three when one is an alias. */
export async function findGroups(
  { store }: Pick<Sources, "store">,
  workspace: Workspace,
  ids: readonly string[],
): Promise<Map<string, RunGroup[]>> {
  const groupsOf = Map.groupBy(await readNamedGroups(store, workspace, ids), (group) => group.run);
  const aliases = ids.filter((id) => !groupsOf.has(id));
  if (aliases.length === 0) return new Map(ids.map((id) => [id, groupsOf.get(id) ?? []]));
  const namedBy = Map.groupBy(await readNamedRuns(store, workspace, aliases), ({ alias }) => alias);
  const runOf = new Map(aliases.map((id) => [id, chooseRun(namedBy.get(id) ?? [])]));
  const runs = [...new Set(runOf.values())].filter((run) => run !== undefined);
  const aliased = Map.groupBy(await readGroupsOfRuns(store, workspace, runs), (group) => group.run);
  return new Map(ids.map((id) => [id, groupsOf.get(id) ?? aliased.get(runOf.get(id) ?? "") ?? []]));
}

function chooseRun(named: readonly NamedRun[]): string | undefined {
  return named.toSorted((a, b) => Number((b.last ?? 0n) - (a.last ?? 0n)))[0]?.runId;
}
