// The step at which each run leaves the first one's series beyond its noise.

import type { CompareAnswer } from "#api/contract/compare.ts";
import { toFloat } from "#api/contract/scalar.ts";
import { findDivergence, type SteppedPoint, shareStep } from "#query/compare/divergence.ts";
import { type ComparedMetric, nameOf } from "#query/compare/read-compared.ts";
import type { RunGroup } from "#query/runs/find-run.ts";
import { wholeSeries } from "#query/series/request.ts";
import { readSeries, type Series } from "#query/series/series.ts";
import type { Sources } from "#query/sources.ts";

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
  sources: Sources,
  ids: readonly string[],
  groups: readonly RunGroup[],
  keys: readonly string[],
  signal: AbortSignal,
): Promise<CompareAnswer["divergence"]> {
  if (keys.length === 0 || ids.length < 2) return [];
  const request = { ...wholeSeries, groups, keys, axis: "step", buckets: divergenceBuckets } as const;
  const all: Series[] = [];
  for await (const series of readSeries(sources, request, signal)) all.push(series);
  const seriesOf = new Map(all.map((series) => [nameOf(series.run, series.key, series.phase), series]));
  const [first, ...others] = ids;
  return all
    .filter((series) => series.run === first)
    .flatMap((reference) =>
      others.flatMap((run) => {
        const { key, phase } = reference;
        const other = seriesOf.get(nameOf(run, key, phase));
        return other === undefined ? [] : toDivergence(reference, other);
      }),
    );
}

/** Series without a common step are left out. */
function toDivergence(reference: Series, other: Series): CompareAnswer["divergence"] {
  const [ours, theirs] = [toPoints(reference), toPoints(other)];
  if (!shareStep(ours, theirs)) return [];
  const { run, key, phase, buckets } = other;
  const found = findDivergence(ours, theirs);
  if (found === null) return [{ key, phase, run, step: null, ts_ns: null, reference: null, value: null }];
  const { at } = found;
  const ts_ns = (buckets.tBase + BigInt(Math.round(at.t))).toString();
  return [
    { key, phase, run, step: String(at.x), ts_ns, reference: toFloat(found.reference), value: toFloat(at.value) },
  ];
}

function toPoints({ buckets }: Series): SteppedPoint[] {
  return buckets.last.flatMap((value, at) =>
    value === null ? [] : [{ x: buckets.xBase + BigInt(buckets.x[at] as number), t: buckets.t[at] as number, value }],
  );
}
