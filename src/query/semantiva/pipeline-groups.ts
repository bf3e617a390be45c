// Which runs ran the same pipeline. `pipeline_id` cannot tell: the first run of a sweep has another one than the rest.
// The semantic id says that two pipelines mean the same, the config id that they are also configured the same.

import { compareText } from "#base/compare-text.ts";
import type { PipelineIds } from "#model/pipeline-facts.ts";

export interface PipelineGroup {
  /** '' where the runs name none; then they are grouped by pipeline id. */
  readonly semantic_id: string;
  readonly pipeline_ids: readonly string[];
  readonly configs: readonly { readonly config_id: string; readonly runs: readonly string[] }[];
  readonly runs: number;
}

/** The largest group first. */
export function groupPipelines(pipelines: readonly PipelineIds[]): PipelineGroup[] {
  const groups = Map.groupBy(pipelines, ({ semantic_id, pipeline_id }) =>
    semantic_id === "" ? `pipeline ${pipeline_id}` : `semantic ${semantic_id}`,
  );
  return Array.from(groups.values(), (same) => toGroup(same)).sort(
    (a, b) => b.runs - a.runs || compareText(a.semantic_id, b.semantic_id),
  );
}

function toGroup(pipelines: readonly PipelineIds[]): PipelineGroup {
  const byConfig = Map.groupBy(pipelines, ({ config_id }) => config_id);
  const configs = Array.from(byConfig, ([config_id, same]) => ({
    config_id,
    runs: same.flatMap(({ runs }) => runs).sort(compareText),
  }));
  return {
    semantic_id: pipelines[0]?.semantic_id ?? "",
    pipeline_ids: [...new Set(pipelines.map(({ pipeline_id }) => pipeline_id))].sort(compareText),
    configs: configs.sort((a, b) => b.runs.length - a.runs.length || compareText(a.config_id, b.config_id)),
    runs: configs.reduce((sum, { runs }) => sum + runs.length, 0),
  };
}
