// Series of several runs and keys, each as a line of JSON of the contract.

import { compareText } from "#base/compare-text.ts";
import type { PointRequest } from "#model/series.ts";
import type { SeriesGroup, SeriesRequest } from "#model/series-request.ts";
import { toBuckets } from "./buckets.ts";
import { type Chosen, choose } from "./choose.ts";
import { formatSeries } from "./format.ts";
import { type PointCache, pointsId } from "./point-cache.ts";
import type { Points } from "./points.ts";

/** Null when there are more points than are held here: then the engine has to do it. */
export async function seriesOf(
  cache: PointCache,
  request: SeriesRequest,
  signal?: AbortSignal,
): Promise<Iterable<Uint8Array> | null> {
  const points = await cache.get(toPointRequest(request), signal);
  return points === null ? null : toLines(points, request);
}

function toPointRequest({ groups, keys, axis }: SeriesRequest): PointRequest {
  const hasMarks = groups.some(({ worker }) => worker !== null);
  const byPlace = axis === "step" || axis === "epoch";
  return {
    groups: [...new Set(groups.map(({ groupKey }) => groupKey))],
    keys: [...new Set(keys)],
    kind: byPlace && hasMarks ? "places" : axis === "epoch" ? "epochs" : "steps",
  };
}

function* toLines(points: ReadonlyMap<string, Points>, request: SeriesRequest): Generator<Uint8Array> {
  const starts = toStarts(points, request);
  const runs = Map.groupBy(request.groups, ({ run }) => run);
  const keys = [...new Set(request.keys)].sort(compareText);
  for (const [run, groups] of [...runs].sort(([a], [b]) => compareText(a, b)))
    for (const key of keys)
      for (const chosen of seriesOfRun(points, { groups, key, start: starts.get(run) ?? 0n }, request)) {
        const [head, columns] = formatSeries(chosen, toBuckets(chosen, request), request.byWorker);
        yield Buffer.from(head);
        yield Buffer.from(`${columns}\n`, "latin1");
      }
}

/** The points of a run's groups are one series where they have the same phase, and worker if that is asked. */
function seriesOfRun(
  points: ReadonlyMap<string, Points>,
  { groups, key, start }: { readonly groups: readonly SeriesGroup[]; readonly key: string; readonly start: bigint },
  request: SeriesRequest,
): Chosen[] {
  const series = new Map<string, Chosen>();
  for (const group of groups) {
    const own = points.get(pointsId(group.groupKey, key));
    if (own === undefined) continue;
    for (const chosen of choose(own, { group, key, start }, request)) {
      const id = `${chosen.phase}\n${chosen.worker}`;
      const known = series.get(id);
      if (known === undefined) series.set(id, chosen);
      else for (const share of chosen.shares) known.shares.push(share);
    }
  }
  return [...series.values()].sort((a, b) => compareText(a.phase, b.phase) || compareText(a.worker, b.worker));
}

/** When each run's first point of the request was, whatever window is asked for. */
function toStarts(points: ReadonlyMap<string, Points>, { groups, keys }: SeriesRequest): Map<string, bigint> {
  const starts = new Map<string, bigint>();
  const firstOf = (group: SeriesGroup, key: string) => points.get(pointsId(group.groupKey, key))?.tsNs[0];
  for (const group of groups)
    for (const key of keys) {
      const first = firstOf(group, key);
      const known = starts.get(group.run);
      if (first !== undefined && (known === undefined || first < known)) starts.set(group.run, first);
    }
  return starts;
}
