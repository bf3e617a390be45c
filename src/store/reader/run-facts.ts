// Reads the facts about runs of a workspace, or of chosen groups, and gathers them by run.

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
import type { ReadOptions, Store } from "#store/store.ts";
import * as heads from "./heads.ts";
import { readNativeRows } from "./native-rows.ts";

export async function readRunFacts(
  store: Store,
  scope: heads.GroupScope,
  options: ReadOptions = {},
): Promise<RunFacts[]> {
  const { database } = store;
  const [groups, starts, ends, statuses, pipelines, wrappers, edits] = await Promise.all([
    readNativeRows<heads.GroupRow>(store, heads.groupsQuery(database, scope), options),
    readNativeRows<heads.StartRow>(store, heads.startsQuery(database, scope), options),
    readNativeRows<heads.EndRow>(store, heads.endsQuery(database, scope), options),
    readNativeRows<heads.StatusRow>(store, heads.statusesQuery(database, scope), options),
    readNativeRows<heads.PipelineRow>(store, heads.pipelinesQuery(database, scope), options),
    readNativeRows<heads.WrapperRow>(store, heads.wrappersQuery(database, scope), options),
    readNativeRows<heads.EditRow>(store, heads.editsQuery(database, scope), options),
  ]);
  const startsOf = Map.groupBy(starts.map(toStart), (fact) => fact.groupKey);
  const endsOf = Map.groupBy(ends.map(toEnd), (fact) => fact.groupKey);
  const statusesOf = Map.groupBy(statuses.map(toStatus), (fact) => fact.groupKey);
  const pipelinesOf = Map.groupBy(pipelines.map(toPipeline), (fact) => fact.groupKey);
  const wrappersOf = Map.groupBy(wrappers.map(toWrapper), (fact) => fact.groupKey);
  const editOf = new Map(edits.map((row) => [row.run_id, toEdit(row)]));
  // A launch is no run: its lines say what was planned.
  const ofRuns = groups.filter((row) => row.protocol !== "launch").map(toGroup);
  const runs = Map.groupBy(ofRuns.sort(byKey), (group) => group.runId);
  return [...runs].map(([runId, mine]) => {
    const all = <T>(facts: Map<string, T[]>): T[] => mine.flatMap((group) => facts.get(group.groupKey) ?? []);
    return {
      runId,
      groups: mine,
      starts: all(startsOf),
      ends: all(endsOf),
      statuses: all(statusesOf),
      pipelines: all(pipelinesOf),
      wrappers: all(wrappersOf),
      edit: editOf.get(runId) ?? null,
      missing: mine.reduce((sum, group) => sum + group.missing, 0),
    };
  });
}

function byKey(a: GroupFacts, b: GroupFacts): number {
  return a.groupKey < b.groupKey ? -1 : 1;
}

function toGroup(row: heads.GroupRow): GroupFacts {
  return {
    groupKey: row.group_key,
    protocol: row.protocol,
    runId: row.run_id,
    sessionId: row.session_id,
    rootKind: row.root_kind,
    rank: row.rank,
    forked: row.forked === 1,
    imported: row.imported === 1,
    firstNs: row.min_ns,
    lastNs: row.max_ns,
    lastReceivedNs: row.max_received_ns ?? 0n,
    faults: row.faults,
    duplicates: row.duplicates,
    missing: row.missing,
    nonfinite: row.nonfinite,
    pipelineId: row.pipeline_id,
    deploymentId: row.deployment_id,
    modelId: row.model_id,
  };
}

function toStart(row: heads.StartRow): StartFact {
  const { group_key: groupKey, ts_ns, tags, ...rest } = row;
  return { ...rest, groupKey, tsNs: ts_ns, tags: tags === "null" ? "" : tags };
}

function toEnd(row: heads.EndRow): EndFact {
  return {
    groupKey: row.group_key,
    worker: row.worker,
    tsNs: row.ts_ns,
    status: row.status,
    errorType: row.error_type,
    errorMessage: row.error_message,
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
