// The pipelines that ran under a run: their graph and how complete they are.

import { type FoundRun, groupKeysOf } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import { type LaunchPage, readLaunches } from "#store/reader/launches.ts";
import { readCompleteness, readLifecycle, readNodes, readPayloads } from "#store/reader/pipelines.ts";
import { readRunFacts } from "#store/reader/run-facts.ts";
import { aggregateRun, type RunAggregate, toCompletenessFacts } from "./aggregate.ts";
import { readClockNote } from "./clock.ts";
import { combineCompleteness, combineSuccess } from "./combine.ts";
import { judgeRun } from "./completeness.ts";
import { type Graph, toGraph } from "./graph.ts";
import { judgeLaunchHead } from "./launch.ts";
import { judgeRunSuccess } from "./success.ts";

export async function readRunGraph(sources: Sources, run: FoundRun): Promise<Graph> {
  const groups = semantivaGroups(run);
  const pipelines = await readPipelines(sources, run);
  return joinGraphs(await Promise.all(pipelines.map((pipeline) => readGraph(sources, groups, pipeline))));
}

export async function readRunCompleteness(sources: Sources, workspace: string, run: FoundRun) {
  const [pipelines, facts] = await Promise.all([
    readPipelines(sources, run),
    readRunFacts(sources.store, { workspace, groupKeys: semantivaGroups(run) }),
  ]);
  const verdicts = pipelines.flatMap((pipeline) => {
    const found = toCompletenessFacts(pipeline);
    return found === null ? [] : [judgeRun(found)];
  });
  return {
    ...combineCompleteness(run.runId, verdicts),
    success: combineSuccess(pipelines.map(judgeRunSuccess)),
    clock: await readClockNote(sources.store, facts),
  };
}

const launchesAtOnce = 1000;

/** Of every run and every launch of a workspace. */
export async function readAllCompleteness({ store }: Sources, workspace: string) {
  const facts = await readCompleteness(store, workspace);
  const launches = [];
  let after: LaunchPage["after"] = null;
  do {
    const heads = await readLaunches(store, { workspace, limit: launchesAtOnce, after });
    for (const head of heads) launches.push(judgeLaunchHead(head).completeness);
    const last = heads.length < launchesAtOnce ? undefined : heads.at(-1);
    after = last === undefined ? null : { startNs: last.start_ns, launchKey: last.launch_key };
  } while (after !== null);
  return { runs: facts.map(judgeRun), launches };
}

function semantivaGroups(run: FoundRun): string[] {
  return groupKeysOf({ groups: run.groups.filter((group) => group.protocol === "semantiva") });
}

async function readPipelines({ store }: Sources, run: FoundRun): Promise<RunAggregate[]> {
  const groups = semantivaGroups(run);
  if (groups.length === 0) return [];
  const [lifecycle, nodes] = await Promise.all([readLifecycle(store, groups), readNodes(store, groups)]);
  const edgesOf = Map.groupBy(lifecycle, (row) => row.group_key);
  const nodesOf = Map.groupBy(nodes, (row) => row.group_key);
  return groups.map((key) => aggregateRun(run.runId, edgesOf.get(key) ?? [], nodesOf.get(key) ?? []));
}

async function readGraph({ store }: Sources, groups: readonly string[], pipeline: RunAggregate): Promise<Graph> {
  const last = Array.from(pipeline.nodes.values(), (node) => node.last.event_id);
  const ids = pipeline.start === null ? last : [pipeline.start.event_id, ...last];
  const payloads = await readPayloads(store, groups, ids);
  const spec = payloads.get(pipeline.start?.event_id ?? "") ?? "";
  return toGraph(pipeline, spec, (node) => payloads.get(node.last.event_id));
}

/** Pipelines under one run share nodes where they are the same pipeline; the later one's state is shown. */
function joinGraphs(graphs: readonly Graph[]): Graph {
  const nodes = new Map(graphs.flatMap((graph) => graph.nodes.map((node) => [node.id, node] as const)));
  const edges = new Map(
    graphs.flatMap((graph) => graph.edges.map((edge) => [`${edge.from}\n${edge.to}`, edge] as const)),
  );
  const [first] = graphs;
  return {
    pipeline_id: first?.pipeline_id ?? "",
    semantic_id: first?.semantic_id ?? "",
    config_id: first?.config_id ?? "",
    nodes: [...nodes.values()],
    edges: [...edges.values()],
  };
}
