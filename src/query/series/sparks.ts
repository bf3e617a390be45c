// Small series for table cells: at most 48 buckets of one metric for each run of a page.

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
  const at = field.lastIndexOf("@");
  const key = at > 0 ? field.slice(0, at) : field;
  const phase = at > 0 ? field.slice(at + 1) : null;
  const groups = runs.flatMap((run) => run.groups.map((group) => ({ ...group, run: run.runId })));
  const sparks = new Map<string, Buckets>();
  if (groups.length === 0) return sparks;
  const request = { ...wholeSeries, groups, keys: [key], axis: "time", buckets: sparkBuckets, phase } as const;
  for await (const { run, buckets } of readSeries(sources, request, signal))
    if (!sparks.has(run)) sparks.set(run, buckets);
  return sparks;
}
