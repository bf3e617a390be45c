// Semantiva pipelines: the graph as declared and as executed, and completeness in the field notes' words.

import type { Static } from "typebox";
import { AsOf, Count, JsonText, nullable, TimeNs, word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const NodeStatus = word(["succeeded", "error", "skipped", "cancelled", "missing", "unknown"]);
export type NodeStatus = Static<typeof NodeStatus>;

export const NodeCheck = Type.Object({
  when: word(["pre", "post", "invariant"]),
  code: Type.String(),
  result: Type.String({ description: "PASS, WARN, FAIL, or the client's own word." }),
  details: Type.String({ description: "Strict JSON text, '' when absent." }),
});

export const GraphNode = Type.Object({
  id: Type.String(),
  label: Type.String(),
  processor: Type.String(),
  role: Type.String(),
  status: NodeStatus,
  /** Executed, but not in the declared pipeline. */
  orphan: Type.Boolean(),
  executions: Count,
  /** Executions by status. */
  counts: Type.Record(Type.String(), Count),
  start_ns: nullable(TimeNs),
  end_ns: nullable(TimeNs),
  wall_ms: nullable(Type.Number()),
  cpu_ms: nullable(Type.Number()),
  parameters: Type.Array(Type.Object({ name: Type.String(), value: JsonText, source: Type.String() })),
  context: Type.Object({
    read: Type.Array(Type.String()),
    created: Type.Array(Type.String()),
    updated: Type.Array(Type.String()),
    summaries: Type.String({ description: "Strict JSON text of key_summaries, '' when absent." }),
  }),
  checks: Type.Array(NodeCheck),
  error: nullable(Type.Object({ type: Type.String(), message: Type.String() })),
  /** Strict JSON text of the last SER line, '' when the node never ran. */
  record: Type.String(),
});
export type GraphNode = Static<typeof GraphNode>;

export const GraphAnswer = Type.Object({
  pipeline_id: Type.String(),
  /** Equal for runs that mean the same, and that are also configured the same; '' when the run does not say. */
  semantic_id: Type.String(),
  config_id: Type.String(),
  nodes: Type.Array(GraphNode),
  edges: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), kind: word(["declared", "observed"]) })),
  as_of: AsOf,
});
export type GraphAnswer = Static<typeof GraphAnswer>;

export const CompletenessStatus = word(["complete", "partial", "invalid"]);
export type CompletenessStatus = Static<typeof CompletenessStatus>;

export const PipelineOutcome = word(["succeeded", "failed", "interrupted", "unfinished"]);
export type PipelineOutcome = Static<typeof PipelineOutcome>;

/** Did it work? A different question from completeness: a failed run is complete once its end has arrived. */
export const RunSuccess = Type.Object({
  outcome: PipelineOutcome,
  status_raw: Type.String({ description: "The end's own word, '' when it says none." }),
  failed_nodes: Type.Array(Type.String()),
});
export type RunSuccess = Static<typeof RunSuccess>;

export const ClockNote = Type.Object({
  kind: word(["ahead", "behind"]),
  message: Type.String(),
});
export type ClockNote = Static<typeof ClockNote>;

export const RunCompleteness = Type.Object({
  run_id: Type.String(),
  status: CompletenessStatus,
  problems: Type.Array(Type.String()),
  missing_nodes: Type.Array(Type.String()),
  orphan_nodes: Type.Array(Type.String()),
  nonterminal_nodes: Type.Array(Type.String()),
  summary: Type.Object({
    nodes_total_expected: nullable(Count),
    nodes_observed: Count,
    coverage_pct: nullable(Type.Number()),
    has_start: Type.Boolean(),
    has_end: Type.Boolean(),
  }),
  success: Type.Optional(RunSuccess),
  clock: Type.Optional(nullable(ClockNote)),
  as_of: Type.Optional(AsOf),
});
export type RunCompleteness = Static<typeof RunCompleteness>;

export const LaunchCompleteness = Type.Object({
  run_space_launch_id: Type.String(),
  run_space_attempt: Count,
  status: CompletenessStatus,
  problems: Type.Array(Type.String()),
  summary: Type.Object({
    runs_total: Count,
    runs_by_status: Type.Object({ complete: Count, partial: Count, invalid: Count }),
    planned_run_count: nullable(Count),
  }),
});
export type LaunchCompleteness = Static<typeof LaunchCompleteness>;

/** The verdicts on everything in the workspace. */
export const CompletenessAnswer = Type.Object({
  runs: Type.Array(RunCompleteness),
  launches: Type.Array(LaunchCompleteness),
  as_of: AsOf,
});
