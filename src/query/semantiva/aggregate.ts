// Records → the aggregate of one run, in any order of arrival. For a single run and its graph; over many runs
// the store aggregates, and only the facts come here.

import type { CompletenessFacts, LifecycleRow, NodeRow } from "#store/reader/pipelines.ts";
import { isTerminal } from "./completeness.ts";
import { compareLifecycle, compareNodes, distinct, earlier, later, timeOfNode } from "./stored.ts";

export interface NodeAggregate {
  readonly node_id: string;
  readonly first_timestamp: string | null;
  readonly last_timestamp: string | null;
  readonly last_seq: number | null;
  readonly last_status: string;
  /** Executions by status. */
  readonly counts: Record<string, number>;
  /** The last execution. */
  readonly last: NodeRow;
}

export interface RunAggregate {
  readonly run_id: string;
  readonly pipeline_id: string | null;
  /** Distinct nodes that the spec names, in its order; empty when it names none. */
  readonly expected: readonly string[];
  readonly run_space_launch_id: string | null;
  readonly run_space_attempt: number | null;
  readonly saw_start: boolean;
  readonly saw_end: boolean;
  readonly start_timestamp: string | null;
  readonly end_timestamp: string | null;
  /** In the order in which the nodes first ran. */
  readonly nodes: ReadonlyMap<string, NodeAggregate>;
  readonly start: LifecycleRow | null;
  readonly end: LifecycleRow | null;
}

/** `lifecycle` and `nodes`: all stored records of this run. */
export function aggregateRun(
  runId: string,
  lifecycle: readonly LifecycleRow[],
  nodes: readonly NodeRow[],
): RunAggregate {
  const rows = distinct(lifecycle).sort(compareLifecycle);
  const starts = rows.filter(({ type }) => type === "pipeline_start");
  const ends = rows.filter(({ type }) => type === "pipeline_end");
  const start = starts.at(-1) ?? null;
  const launched = starts.findLast(({ launch_id }) => launch_id !== "");
  const attempted = starts.findLast(({ attempt }) => attempt !== null);
  return {
    run_id: runId,
    pipeline_id: start?.pipeline_id ?? null,
    expected: [...new Set(start?.expected)],
    run_space_launch_id: launched?.launch_id ?? null,
    run_space_attempt: attempted?.attempt ?? null,
    saw_start: starts.length > 0,
    saw_end: ends.length > 0,
    start_timestamp: starts.reduce((time, row) => earlier(time, row.timestamp), "") || null,
    end_timestamp: ends.reduce((time, row) => later(time, row.timestamp), "") || null,
    nodes: aggregateNodes(nodes),
    start,
    end: ends.at(-1) ?? null,
  };
}

function aggregateNodes(rows: readonly NodeRow[]): Map<string, NodeAggregate> {
  const byNode = Map.groupBy(distinct(rows).sort(compareNodes), ({ node_id }) => node_id);
  return new Map(Array.from(byNode, ([nodeId, executions]) => [nodeId, aggregateNode(nodeId, executions)]));
}

/** `executions` from first to last. */
function aggregateNode(nodeId: string, executions: readonly NodeRow[]): NodeAggregate {
  const counts: Record<string, number> = {};
  for (const { status } of executions) counts[status] = (counts[status] ?? 0) + 1;
  const last = executions.at(-1) as NodeRow;
  return {
    node_id: nodeId,
    first_timestamp: executions.reduce((time, row) => earlier(time, timeOfNode(row)), "") || null,
    last_timestamp: executions.reduce((time, row) => later(time, timeOfNode(row)), "") || null,
    last_seq: executions.findLast(({ seq }) => seq !== null)?.seq ?? null,
    last_status: last.status,
    counts,
    last,
  };
}

/** Null when no record says anything of the run: records of unknown types do not count. */
export function toCompletenessFacts(run: RunAggregate): CompletenessFacts | null {
  const observed = [...run.nodes.keys()];
  if (!run.saw_start && !run.saw_end && observed.length === 0) return null;
  const expected = new Set(run.expected);
  let first = "";
  let last = "";
  for (const node of run.nodes.values()) {
    first = earlier(earlier(first, node.first_timestamp ?? ""), node.last.started_at);
    last = later(later(last, node.last_timestamp ?? ""), node.last.finished_at);
  }
  return {
    run_id: run.run_id,
    has_start: run.saw_start,
    has_end: run.saw_end,
    start_timestamp: run.start_timestamp ?? "",
    end_timestamp: run.end_timestamp ?? "",
    first_node_timestamp: first,
    last_node_timestamp: last,
    expected: expected.size,
    observed: observed.length,
    matched: observed.filter((id) => expected.has(id)).length,
    missing_nodes: run.expected.filter((id) => !run.nodes.has(id)),
    orphan_nodes: observed.filter((id) => !expected.has(id)),
    nonterminal_nodes: observed.filter((id) => !isTerminal(run.nodes.get(id)?.last_status ?? "")),
  };
}
