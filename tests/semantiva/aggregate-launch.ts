// A launch's records → what is judged of it, as the format's own aggregator does. The store has its own way over many
// runs at once; this one is held against the recorded verdicts.

import type { CompletenessStatus } from "#api/contract/pipeline.ts";
import { compareText } from "#base/compare-text.ts";
import type { LaunchFacts } from "#query/semantiva/completeness.ts";
import { compareLifecycle, distinct } from "#query/semantiva/stored.ts";
import type { LifecycleRow } from "#store/reader/pipelines.ts";

export interface LaunchAggregate {
  readonly run_space_launch_id: string;
  readonly run_space_attempt: number;
  readonly planned_run_count: number | null;
  readonly saw_start: boolean;
  readonly saw_end: boolean;
  /** Attached runs, sorted. */
  readonly pipelines: readonly string[];
}

/** `lifecycle`: the launch's own lines, and the start lines of all runs that name it. */
export function aggregateLaunch(
  launchId: string,
  attempt: number,
  lifecycle: readonly LifecycleRow[],
): LaunchAggregate {
  const rows = distinct(lifecycle)
    .filter((row) => row.launch_id === launchId && row.attempt === attempt)
    .sort(compareLifecycle);
  const starts = rows.filter(({ type }) => type === "run_space_start");
  const ends = rows.filter(({ type }) => type === "run_space_end");
  const runs = rows.filter(({ type }) => type === "pipeline_start").map(({ run_id }) => run_id);
  return {
    run_space_launch_id: launchId,
    run_space_attempt: attempt,
    planned_run_count: starts.findLast(({ planned_runs }) => planned_runs !== null)?.planned_runs ?? null,
    saw_start: starts.length > 0,
    saw_end: ends.length > 0,
    pipelines: [...new Set(runs)].sort(compareText),
  };
}

/** Null when no record names the launch. */
export function toLaunchFacts(
  launch: LaunchAggregate,
  statusOf: (runId: string) => CompletenessStatus,
): LaunchFacts | null {
  const runs_by_status = { complete: 0, partial: 0, invalid: 0 };
  for (const runId of launch.pipelines) runs_by_status[statusOf(runId)]++;
  if (!launch.saw_start && !launch.saw_end && launch.pipelines.length === 0) return null;
  return {
    launch_id: launch.run_space_launch_id,
    attempt: launch.run_space_attempt,
    has_start: launch.saw_start,
    has_end: launch.saw_end,
    planned_run_count: launch.planned_run_count,
    runs_by_status,
  };
}
