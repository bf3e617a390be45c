// Reads the facts about runs of a workspace, or of chosen groups, and gathers them by run. Heads, statuses and times are
// concluded from these when they are read.

import { type GroupKind, groupKinds } from "#model/group-key.ts";
import type { Store } from "#store/store.ts";
import { type GroupFacts, readGroupFacts } from "./group-facts.ts";
import { type GroupScope, ofKind } from "./group-scope.ts";
import * as heads from "./heads.ts";

export interface RunFacts {
  readonly runId: string;
  readonly groups: readonly GroupFacts[];
  readonly starts: readonly heads.StartFact[];
  readonly ends: readonly heads.EndFact[];
  readonly statuses: readonly heads.StatusFact[];
  readonly pipelines: readonly heads.PipelineFact[];
  readonly wrappers: readonly heads.WrapperFact[];
  readonly edit: heads.EditFact | null;
  /** XTrack events that never came, counted over all incarnations of all workers. */
  readonly missing: number;
}

/** Facts that only one protocol has are asked only about groups of that protocol. */
export async function readRunFacts(store: Store, scope: GroupScope): Promise<RunFacts[]> {
  const read = async <T>(kind: GroupKind, reader: (store: Store, scope: GroupScope) => Promise<T[]>): Promise<T[]> => {
    const mine = ofKind(scope, kind);
    return mine === null ? [] : reader(store, mine);
  };
  const [groups, starts, ends, statuses, pipelines, wrappers, edits] = await Promise.all([
    readGroupFacts(store, scope),
    read(groupKinds.xtrackRun, heads.readStarts),
    read(groupKinds.xtrackRun, heads.readEnds),
    read(groupKinds.xtrackRun, heads.readStatuses),
    read(groupKinds.semantivaRun, heads.readPipelineFacts),
    read(groupKinds.wrapper, heads.readWrappers),
    heads.readEdits(store, scope),
  ]);
  const startsOf = byGroup(starts);
  const endsOf = byGroup(ends);
  const statusesOf = byGroup(statuses);
  const pipelinesOf = byGroup(pipelines);
  const wrappersOf = byGroup(wrappers);
  const editOf = new Map(edits.map((edit) => [edit.runId, edit]));
  return Array.from(
    Map.groupBy(groups, (group) => group.runId),
    ([runId, mine]) => ({
      runId,
      groups: mine,
      starts: startsOf(mine),
      ends: endsOf(mine),
      statuses: statusesOf(mine),
      pipelines: pipelinesOf(mine),
      wrappers: wrappersOf(mine),
      edit: editOf.get(runId) ?? null,
      missing: mine.reduce((sum, group) => sum + group.missing, 0),
    }),
  );
}

const none: readonly never[] = [];

/** The facts of a run's groups, in the order of the groups. Most runs have one group, and no facts of most kinds. */
function byGroup<T extends { readonly groupKey: string }>(
  facts: readonly T[],
): (groups: readonly GroupFacts[]) => readonly T[] {
  if (facts.length === 0) return () => none;
  const factsOf = Map.groupBy(facts, (fact) => fact.groupKey);
  return (groups) => {
    const [first] = groups;
    if (groups.length === 1 && first !== undefined) return factsOf.get(first.groupKey) ?? none;
    return groups.flatMap<T>((group) => factsOf.get(group.groupKey) ?? none);
  };
}
