// The metrics that a run has.

import type { RunGroup } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import { readMetrics } from "#store/reader/metrics.ts";

/** By key and phase, with exact counts. */
export function listMetrics({ store }: Sources, groups: readonly RunGroup[]) {
  return readMetrics(store, groups);
}
