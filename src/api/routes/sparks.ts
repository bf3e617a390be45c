// Small series for table cells: at most 48 buckets of one metric for each run of a page.

import type { ApiContext } from "#api/context.ts";
import type { Spark } from "#api/contract/run.ts";
import type { Series } from "#api/contract/series.ts";
import type { RunRow } from "#query/runs/row.ts";
import { parseLines } from "./lines.ts";

const sparkBuckets = 48;

export async function readSparks(
  context: ApiContext,
  runs: readonly RunRow[],
  field: string,
  signal: AbortSignal,
): Promise<Map<string, Spark>> {
  const at = field.lastIndexOf("@");
  const key = at > 0 ? field.slice(0, at) : field;
  const groups = runs.flatMap((run) => run.groups.map((group) => ({ ...group, run: run.runId })));
  if (groups.length === 0) return new Map();
  const rows = context.reads.series(
    {
      groups,
      keys: [key],
      axis: "time",
      buckets: sparkBuckets,
      byWorker: false,
      byPosition: false,
      worker: null,
      phase: at > 0 ? field.slice(at + 1) : null,
      from: null,
      to: null,
      fromNs: null,
      toNs: null,
    },
    signal,
  );
  const sparks = new Map<string, Spark>();
  for await (const series of parseLines<Series>(rows))
    if (!sparks.has(series.run))
      sparks.set(series.run, { key: field, min: series.min, max: series.max, last: series.last });
  return sparks;
}
