// GET /runs/<id>/graph, GET /runs/<id>/completeness and GET /completeness: Semantiva pipelines.

import { type ApiContext, resolveRun } from "#api/context.ts";
import type { RunCompleteness } from "#api/contract/pipeline.ts";
import type { Handler } from "#api/handler.ts";
import type { ResolvedRun } from "#api/reads.ts";
import type { RunFacts } from "#model/run-facts.ts";
import { aggregateRun, type RunAggregate, toCompletenessFacts } from "#query/semantiva/aggregate.ts";
import { type ClockNote, noteClock } from "#query/semantiva/clock.ts";
import { combineCompleteness, combineSuccess } from "#query/semantiva/combine.ts";
import { judgeRun, judgeUnknownRun } from "#query/semantiva/completeness.ts";
import { type Graph, toGraph } from "#query/semantiva/graph.ts";
import { judgeLaunchHead } from "#query/semantiva/launch.ts";
import { judgeRunSuccess } from "#query/semantiva/success.ts";

const launchesPage = 1000;

export function graphRoute(context: ApiContext): Handler<"graph"> {
  return async (request) => {
    const asOf = context.asOf();
    const run = await resolveRun(context, request);
    const graphs = await Promise.all(
      (await readPipelines(context, run)).map((pipeline) => readGraph(context, run, pipeline)),
    );
    return { ...joinGraphs(graphs), as_of: asOf };
  };
}

/** An id that is not known is a verdict too: the format's own aggregator answers so. */
export function completenessRoute(context: ApiContext): Handler<"completeness"> {
  return async ({ params, caller }): Promise<RunCompleteness> => {
    const asOf = context.asOf();
    const run = await context.reads.resolve(caller.workspace, params.id);
    if (run === null) return { ...judgeUnknownRun(params.id), as_of: asOf };
    const [pipelines, facts] = await Promise.all([
      readPipelines(context, run),
      context.reads.runFacts(caller.workspace, semantivaGroups(run)),
    ]);
    const verdicts = pipelines.flatMap((pipeline) => {
      const found = toCompletenessFacts(pipeline);
      return found === null ? [] : [judgeRun(found)];
    });
    return {
      ...combineCompleteness(run.runId, verdicts),
      success: combineSuccess(pipelines.map(judgeRunSuccess)),
      clock: await readClockNote(context, facts),
      as_of: asOf,
    };
  };
}

export function completenessAllRoute(context: ApiContext): Handler<"completenessAll"> {
  return async ({ caller, signal }) => {
    const asOf = context.asOf();
    const { workspace } = caller;
    const { pipelines } = context.reads;
    const facts = await pipelines.completeness({ workspace }, signal);
    const launches = [];
    let after: { startNs: bigint; launchKey: string } | null = null;
    do {
      const heads = await pipelines.launches({ workspace, limit: launchesPage, after }, signal);
      for (const head of heads) launches.push(judgeLaunchHead(head).completeness);
      const last = heads.length < launchesPage ? undefined : heads.at(-1);
      after = last === undefined ? null : { startNs: last.start_ns, launchKey: last.launch_key };
    } while (after !== null);
    return { runs: facts.map(judgeRun), launches, as_of: asOf };
  };
}

/** The first sign of a shifted clock among the run's pipelines. */
export async function readClockNote(context: ApiContext, facts: readonly RunFacts[]): Promise<ClockNote | null> {
  const groups = facts.flatMap((run) => run.groups).filter((group) => group.protocol === "semantiva");
  if (groups.length === 0) return null;
  const clocks = await context.reads.pipelines.clocks(groups.map((group) => group.groupKey));
  for (const { groupKey, imported } of groups) {
    const clock = clocks.get(groupKey);
    const note = clock === undefined ? null : noteClock({ ...clock, imported });
    if (note !== null) return note;
  }
  return null;
}

function semantivaGroups(run: ResolvedRun): string[] {
  return run.groups.filter((group) => group.protocol === "semantiva").map((group) => group.groupKey);
}

/** Each pipeline that ran under the run. */
async function readPipelines({ reads }: ApiContext, run: ResolvedRun): Promise<RunAggregate[]> {
  const groups = semantivaGroups(run);
  if (groups.length === 0) return [];
  const [lifecycle, nodes] = await Promise.all([reads.pipelines.lifecycle(groups), reads.pipelines.nodes(groups)]);
  const edgesOf = Map.groupBy(lifecycle, (row) => row.group_key);
  const nodesOf = Map.groupBy(nodes, (row) => row.group_key);
  return groups.map((key) => aggregateRun(run.runId, edgesOf.get(key) ?? [], nodesOf.get(key) ?? []));
}

async function readGraph({ reads }: ApiContext, run: ResolvedRun, pipeline: RunAggregate): Promise<Graph> {
  const last = Array.from(pipeline.nodes.values(), (node) => node.last.event_id);
  const ids = pipeline.start === null ? last : [pipeline.start.event_id, ...last];
  const payloads = await reads.pipelines.payloads(semantivaGroups(run), ids);
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
