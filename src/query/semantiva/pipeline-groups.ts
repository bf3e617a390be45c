// Which runs ran the same pipeline. `pipeline_id` cannot tell: the first run of a sweep has another one than the rest.
// The semantic id says that two pipelines mean the same, the config id that they are also configured the same.

import { compareText } from "#base/compare-text.ts";
import type { LaunchedRun } from "#store/reader/members.ts";

export interface PipelineGroup {
  /** '' where the runs name none; then they are grouped by pipeline id. */
  readonly semantic_id: string;
  readonly pipeline_ids: readonly string[];
  readonly configs: readonly { readonly config_id: string; readonly runs: readonly string[] }[];
  readonly runs: number;
}

type Ran = Pick<LaunchedRun, "run_id" | "pipeline_id" | "semantic_id" | "config_id">;

/** The largest group first. */
export function groupPipelines(runs: readonly Ran[]): PipelineGroup[] {
  const groups = Map.groupBy(runs, ({ semantic_id, pipeline_id }) =>
    semantic_id === "" ? `pipeline ${pipeline_id}` : `semantic ${semantic_id}`,
  );
  return Array.from(groups.values(), (same) => toGroup(same)).sort(
    (a, b) => b.runs - a.runs || compareText(a.semantic_id, b.semantic_id),
  );
}

function toGroup(runs: readonly Ran[]): PipelineGroup {
  const byConfig = Map.groupBy(runs, ({ config_id }) => config_id);
  const configs = Array.from(byConfig, ([config_id, same]) => ({
    config_id,
    // The plain order is right for nearly all ids and several times as fast; little is left to the exact one.
    runs: same
      .map(({ run_id }) => run_id)
      .sort()
      .sort(compareText),
  }));
  return {
    semantic_id: runs[0]?.semantic_id ?? "",
    pipeline_ids: [...new Set(runs.map(({ pipeline_id }) => pipeline_id))].sort(compareText),
    configs: configs.sort((a, b) => b.runs.length - a.runs.length || compareText(a.config_id, b.config_id)),
    runs: runs.length,
  };
}
