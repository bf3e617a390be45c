// Reads the facts about runs of a workspace, or of chosen groups, and gathers them by run.

import { type GroupKind, groupKinds } from "#model/group-key.ts";
import type {
  EditFact,
  EndFact,
  GroupFacts,
  PipelineFact,
  RunFacts,
  StartFact,
  StatusFact,
  WrapperFact,
} from "#model/run-facts.ts";
import type { Query, Store } from "#store/store.ts";
import { readGroupFacts } from "./group-facts.ts";
import { type GroupScope, ofKind } from "./group-scope.ts";
import * as heads from "./heads.ts";
import { readNativeRows } from "./native-rows.ts";

/** Of chosen groups only those are asked about what only their protocol has. */
export async function readRunFacts(store: Store, scope: GroupScope): Promise<RunFacts[]> {
  const read = async <T>(kind: GroupKind, toQuery: (database: string, scope: GroupScope) => Query): Promise<T[]> => {
    const mine = ofKind(scope, kind);
    return mine === null ? [] : readNativeRows<T>(store, toQuery(store.database, mine));
  };
  const [groups, starts, ends, statuses, pipelines, wrappers, edits] = await Promise.all([
    readGroupFacts(store, scope),
    read<StartFact>(groupKinds.xtrackRun, heads.startsQuery),
    read<EndFact>(groupKinds.xtrackRun, heads.endsQuery),
    read<heads.StatusRow>(groupKinds.xtrackRun, heads.statusesQuery),
    read<heads.PipelineRow>(groupKinds.semantivaRun, heads.pipelinesQuery),
    read<heads.WrapperRow>(groupKinds.wrapper, heads.wrappersQuery),
    readNativeRows<heads.EditRow>(store, heads.editsQuery(store.database, scope)),
  ]);
  const startsOf = byGroup(starts);
  const endsOf = byGroup(ends);
  const statusesOf = byGroup(statuses.map(toStatus));
  const pipelinesOf = byGroup(pipelines.map(toPipeline));
  const wrappersOf = byGroup(wrappers.map(toWrapper));
  const editOf = new Map(edits.map((row) => [row.run_id, toEdit(row)]));
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

function toStatus(row: heads.StatusRow): StatusFact {
  const { group_key: groupKey, worker, status, message, progress } = row;
  return { groupKey, worker, tsNs: row.ts_ns, status, message, progress: progress === "null" ? "" : progress };
}

function toPipeline(row: heads.PipelineRow): PipelineFact {
  return {
    groupKey: row.group_key,
    hasStart: row.has_start === 1,
    hasEnd: row.has_end === 1,
    startNs: row.start_ns,
    endNs: row.end_ns,
    outcome: row.outcome,
    nodeErrors: row.errors,
    nodeError: row.error,
    launchId: row.launch_id,
    attempt: row.attempt,
    index: row.run_index,
  };
}

function toWrapper(row: heads.WrapperRow): WrapperFact {
  const start = parseObject(row.start);
  const exit = parseObject(row.exit);
  return {
    groupKey: row.group_key,
    startNs: row.start_ns,
    endNs: row.end_ns,
    exitCode: typeof exit["code"] === "number" ? exit["code"] : null,
    signal: typeof exit["signal"] === "string" ? exit["signal"] : "",
    name: typeof start["name"] === "string" ? start["name"] : "",
  };
}

function toEdit(row: heads.EditRow): EditFact {
  const { name, notes, tags, author } = row;
  return { name, notes, tags, archived: row.archived === 1, author, atNs: row.version };
}

function parseObject(text: string): Record<string, unknown> {
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}
