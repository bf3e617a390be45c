// Small series for table cells: at most 48 buckets of one metric for each run of a page.

import { splitPhase } from "#query/runs/field.ts";
import type { RunRow } from "#query/runs/row.ts";
import type { Sources } from "#query/sources.ts";
import type { Buckets } from "./buckets.ts";
import { wholeSeries } from "./request.ts";
import { readSeries } from "./series.ts";

const sparkBuckets = 48;

/** By run: the first of its series of the metric, `<key>` or `<key>@<phase>`. */
export async function readSparks(
  sources: Sources,
  runs: readonly RunRow[],
  field: string,
  signal: AbortSignal,
): Promise<Map<string, Buckets>> {
  const { key, phase, whole } = splitPhase(field);
  const groups = runs.flatMap((run) => run.groups.map((group) => ({ ...group, run: run.runId })));
  const sparks = new Map<string, Buckets>();
  if (groups.length === 0) return sparks;
  const gather = async (metric: { readonly key: string; readonly phase: string | null }): Promise<void> => {
    const place = { axis: "time", buckets: sparkBuckets, phase: metric.phase } as const;
    const request = { ...wholeSeries, groups, keys: [metric.key], ...place };
    for await (const { run, buckets } of readSeries(sources, request, signal))
      if (!sparks.has(run)) sparks.set(run, buckets);
  };
  // A metric of the whole name comes first.
  if (whole !== null) await gather({ key: whole, phase: null });
  await gather({ key, phase });
  return sparks;
}
