// The step at which each run leaves the first one's series beyond its noise.

import type { ComparedMetric } from "#api/compare-reads.ts";
import type { ApiContext } from "#api/context.ts";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { toFloat } from "#api/contract/scalar.ts";
import type { Series } from "#api/contract/series.ts";
import type { RunGroup } from "#api/reads.ts";
import { findDivergence, type SteppedPoint } from "#query/compare/divergence.ts";
import { parseLines } from "./lines.ts";

const divergenceBuckets = 2000;
const lossKeysMax = 4;

/** The metrics that most runs share and that are called a loss. */
export function lossKeys(metrics: readonly ComparedMetric[]): string[] {
  const runsOf = new Map<string, Set<string>>();
  for (const { key, run } of metrics) {
    if (!/loss/i.test(key)) continue;
    const runs = runsOf.get(key) ?? new Set();
    runsOf.set(key, runs.add(run));
  }
  return [...runsOf]
    .filter(([, runs]) => runs.size > 1)
    .sort(([, a], [, b]) => b.size - a.size)
    .slice(0, lossKeysMax)
    .map(([key]) => key);
}

/** `ids` in order: the first is the one that the others are measured by. */
export async function readDivergences(
  context: ApiContext,
  ids: readonly string[],
  groups: readonly RunGroup[],
  keys: readonly string[],
  signal: AbortSignal,
): Promise<CompareAnswer["divergence"]> {
  if (keys.length === 0 || ids.length < 2) return [];
  const window = { worker: null, phase: null, from: null, to: null, fromNs: null, toNs: null };
  const request = {
    groups,
    keys,
    axis: "step" as const,
    buckets: divergenceBuckets,
    byWorker: false,
    byPosition: false,
    ...window,
  };
  const all: Series[] = [];
  for await (const series of parseLines<Series>(context.reads.series(request, signal))) all.push(series);
  const nameOf = (run: string, key: string, phase: string): string => JSON.stringify([run, key, phase]);
  const seriesOf = new Map(all.map((series) => [nameOf(series.run, series.key, series.phase), series]));
  const [first, ...others] = ids;
  return all
    .filter((series) => series.run === first)
    .flatMap((reference) =>
      others.map((runId) => {
        const { key, phase } = reference;
        const other = seriesOf.get(nameOf(runId, key, phase));
        const found = other === undefined ? null : findDivergence(toPoints(reference), toPoints(other));
        return {
          key,
          phase,
          run: runId,
          step: found === null ? null : String(found.at.x),
          ts_ns:
            found === null || other === undefined
              ? null
              : (BigInt(other.t_base) + BigInt(Math.round(found.at.t))).toString(),
          reference: found === null ? null : toFloat(found.reference),
          value: found === null ? null : toFloat(found.at.value),
        };
      }),
    );
}

function toPoints(series: Series): SteppedPoint[] {
  const base = Number(series.x_base);
  return series.last.flatMap((value, at) =>
    value === null ? [] : [{ x: base + (series.x[at] as number), t: series.t[at] as number, value: Number(value) }],
  );
}
