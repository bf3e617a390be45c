// Series of several runs and keys. Their points are held while they are worked on, and mostly kept for the next question. The
// points of a series too long for that are read in blocks, twice: to find where it begins and ends, and to fill its buckets.

import { compareText } from "#base/compare-text.ts";
import { hasTrait } from "#protocol/facts.ts";
import { findGroups } from "#query/runs/find-run.ts";
import type { Sources } from "#query/sources.ts";
import { readMetrics } from "#store/reader/metrics.ts";
import type { PointRequest } from "#store/reader/points.ts";
import type { RunGroup } from "#store/reader/run-names.ts";
import { BucketFiller } from "./bucket-filler.ts";
import { type Buckets, finishBuckets, toBuckets } from "./buckets.ts";
import { type Chosen, choose, pointAt, type Share } from "./choose.ts";
import { type KeptPoints, pointsId } from "./kept-points.ts";
import { SeriesOutline } from "./outline.ts";
import { copyPoints, type Points } from "./points.ts";
import type { SeriesGroup, SeriesRequest } from "./request.ts";

export { readMetrics };

/** One line of a chart. */
export interface Series extends Omit<Chosen, "shares"> {
  readonly buckets: Buckets;
}

/** A series of runs whose groups the caller has found. */
export interface RunSeriesRequest extends Omit<SeriesRequest, "groups"> {
  readonly groups: readonly Pick<RunGroup, "groupKey" | "run" | "protocol" | "rank">[];
}

export function readSeries(
  { points }: Pick<Sources, "points">,
  { groups, ...rest }: RunSeriesRequest,
  signal?: AbortSignal,
): AsyncGenerator<Series> {
  const sources = groups.map(({ groupKey, run, protocol, rank }) => ({
    groupKey,
    run,
    worker: hasTrait(protocol, "sessions") ? String(rank) : null,
  }));
  return seriesOf(points, { ...rest, groups: sources }, signal);
}

/** Series of the runs that ids mean, or the first id that means none. */
export async function findSeries(
  sources: Sources,
  workspace: string,
  ids: readonly string[],
  request: Omit<RunSeriesRequest, "groups">,
  signal: AbortSignal,
): Promise<AsyncGenerator<Series> | { readonly unknownRun: string }> {
  const found = await findGroups(sources, workspace, ids);
  const unknownRun = ids.find((id) => (found.get(id) ?? []).length === 0);
  if (unknownRun !== undefined) return { unknownRun };
  // A series is called as the caller called its run, which may be an alias.
  const groups = [...found].flatMap(([id, own]) => own.map((group) => ({ ...group, run: id })));
  return readSeries(sources, { ...request, groups }, signal);
}

/** By run, key, phase and worker. */
export async function* seriesOf(
  cache: KeptPoints,
  request: SeriesRequest,
  signal?: AbortSignal,
): AsyncGenerator<Series> {
  const held = await cache.get(toPointRequest(request), signal);
  const runs = Map.groupBy(request.groups, ({ run }) => run);
  const keys = [...new Set(request.keys)].sort(compareText);
  for (const [, groups] of [...runs].sort(([a], [b]) => compareText(a, b))) {
    const ofRun = { ...request, groups };
    // Whatever is asked for, relative time counts from the start of the run.
    const start = request.axis === "relative" ? await cache.startOf(groups.map(({ groupKey }) => groupKey)) : 0n;
    for (const key of keys) {
      const one = { ...ofRun, keys: [key] };
      const points = held ?? (await cache.get(toPointRequest(one), signal));
      if (points === null) yield* streamSeries(cache, one, start, signal);
      else
        for (const { shares, ...named } of chosenOf(points, one, start))
          yield { ...named, buckets: toBuckets(shares, one) };
    }
  }
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

type HeldPoints = ReadonlyMap<string, Points>;

/** The series of one run and key; its groups' points are one where they have the same phase, and worker if asked. */
function chosenOf(points: HeldPoints, request: SeriesRequest, start: bigint): Chosen[] {
  const series = new Map<string, Chosen>();
  const [key] = request.keys as readonly [string];
  for (const group of request.groups) {
    const own = points.get(pointsId(group.groupKey, key));
    if (own === undefined) continue;
    for (const chosen of choose(own, { group, key, start }, request)) {
      const known = series.get(idOf(chosen));
      if (known === undefined) series.set(idOf(chosen), chosen);
      else for (const share of chosen.shares) known.shares.push(share);
    }
  }
  return [...series.values()].sort(byPhaseAndWorker);
}

type Named = Pick<Chosen, "phase" | "worker">;

function idOf({ phase, worker }: Named): string {
  return `${phase}\n${worker}`;
}

function byPhaseAndWorker(a: Named, b: Named): number {
  return compareText(a.phase, b.phase) || compareText(a.worker, b.worker);
}

interface StreamedSeries {
  readonly named: Omit<Chosen, "shares">;
  readonly outline: SeriesOutline;
  /** Once the outline is known: the points themselves where there are few, else buckets. */
  readonly shares: Share[];
  filler: BucketFiller | null;
}

/** Of one run and key. */
async function* streamSeries(
  cache: KeptPoints,
  request: SeriesRequest,
  start: bigint,
  signal: AbortSignal | undefined,
): AsyncGenerator<Series> {
  const found = new Map<string, StreamedSeries>();
  const last = await cache.lastOf(toPointRequest(request));
  for await (const { shares, ...named } of chosenParts(cache, request, { start, last }, signal)) {
    const known = found.get(idOf(named)) ?? { named, outline: new SeriesOutline(request), shares: [], filler: null };
    found.set(idOf(named), known);
    for (const share of shares) known.outline.add(share);
  }
  for await (const { shares, ...named } of chosenParts(cache, request, { start, last }, signal)) {
    const series = found.get(idOf(named));
    if (series === undefined) continue;
    if (series.outline.isExact) for (const share of shares) series.shares.push(toOwnShare(share));
    else {
      series.filler ??= new BucketFiller(series.outline, request);
      for (const share of shares) series.filler.add(share);
      series.filler.detach();
    }
  }
  for (const { named, outline, shares, filler } of [...found.values()].sort((a, b) =>
    byPhaseAndWorker(a.named, b.named),
  ))
    yield { ...named, buckets: filler === null ? toBuckets(shares, request) : finishBuckets(filler, outline) };
}

/** The part of each series in each block. */
async function* chosenParts(
  cache: KeptPoints,
  request: SeriesRequest,
  { start, last }: { readonly start: bigint; readonly last: bigint },
  signal: AbortSignal | undefined,
): AsyncGenerator<Chosen> {
  const [key] = request.keys as readonly [string];
  const groupOf = new Map(request.groups.map((group) => [group.groupKey, group]));
  for await (const { group, points } of cache.passBy(toPointRequest(request), last, signal))
    yield* choose(points, { group: groupOf.get(group) as SeriesGroup, key, start }, request);
}

/** The same points, without the block they came in. */
function toOwnShare(share: Share): Share {
  const refs = Array.from({ length: share.count }, (_, i) => ({ points: share.points, point: pointAt(share, i) }));
  const points = copyPoints(refs);
  return { points, places: share.places.of(points), count: share.count, at: null, from: 0 };
}
