// Launches: run-space sweeps, keyed (id, attempt).

import type { Static } from "typebox";
import { LaunchCompleteness, PipelineOutcome } from "./pipeline.ts";
import { Cell, RunStatus } from "./run.ts";
import { AsOf, Count, JsonText, NextCursor, nullable, PageQuery, repeated, TimeNs } from "./scalar.ts";
import { Type } from "./schema.ts";

export const LaunchSummary = Type.Object({
  id: Type.String(),
  attempt: Count,
  /** Every attempt seen under this id, ascending. */
  attempts: Type.Array(Count),
  status: RunStatus,
  status_raw: Type.String(),
  combine_mode: Type.String(),
  start_ns: nullable(TimeNs),
  end_ns: nullable(TimeNs),
  planned: nullable(Count),
  runs: Count,
  statuses: Type.Record(Type.String(), Count),
  completeness: LaunchCompleteness,
  success: Type.Object({
    outcome: PipelineOutcome,
    runs: Type.Record(PipelineOutcome, Count),
    /** Planned runs that never started; null when the plan is not known. */
    missing_runs: nullable(Count),
  }),
});
export type LaunchSummary = Static<typeof LaunchSummary>;

export const LaunchesQuery = Type.Object({ ...PageQuery });
export const LaunchesAnswer = Type.Object({ launches: Type.Array(LaunchSummary), next: NextCursor, as_of: AsOf });

export const LaunchPath = Type.Object({ id: Type.String({ minLength: 1 }), attempt: Type.Integer({ minimum: 0 }) });
export const LaunchQuery = Type.Object({
  columns: Type.Optional(
    repeated(Type.String({ description: "Fields to return per cell, e.g. metrics.loss.last." }), 16),
  ),
  best: Type.Optional(
    Type.String({
      description: "A field; the answer names the run with its smallest value, or with `-` in front its largest.",
    }),
  ),
});

export const LaunchCell = Type.Object({
  index: nullable(Count),
  /** Null for a planned run nothing has arrived of. */
  run: nullable(Type.String()),
  name: Type.String(),
  status: Type.Union([RunStatus, Type.Literal("missing")]),
  context: Type.Record(Type.String(), JsonText),
  cells: Type.Record(Type.String(), Cell),
});
export type LaunchCell = Static<typeof LaunchCell>;

export const LaunchAnswer = Type.Object({
  ...LaunchSummary.properties,
  spec_id: Type.String(),
  inputs_id: Type.String(),
  constants: Type.Record(Type.String(), JsonText),
  inputs: Type.Array(Type.Object({ role: Type.String(), uri: Type.String(), sha256: Type.String() })),
  /** Context names with their distinct values, the most varied first. */
  axes: Type.Array(Type.Object({ name: Type.String(), values: Type.Array(JsonText), numeric: Type.Boolean() })),
  grid: Type.Array(LaunchCell),
  /** Runs that share their whole context with another run. */
  duplicates: Type.Array(
    Type.Object({ context: Type.Record(Type.String(), JsonText), runs: Type.Array(Type.String()) }),
  ),
  /** Only when asked for; null when no run has a finite value. */
  best: Type.Optional(nullable(Type.Object({ run: Type.String(), value: Cell }))),
  /** Runs of the same meaning, and of the same configuration; the ids of pipelines differ within one launch. */
  pipelines: Type.Array(
    Type.Object({
      semantic_id: Type.String(),
      pipeline_ids: Type.Array(Type.String()),
      configs: Type.Array(Type.Object({ config_id: Type.String(), runs: Type.Array(Type.String()) })),
      runs: Count,
    }),
  ),
  as_of: AsOf,
});
export type LaunchAnswer = Static<typeof LaunchAnswer>;
