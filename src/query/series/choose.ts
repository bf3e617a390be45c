// Which points of a group and key belong to which series of a request, and their positions on its axis.

import { firstPlace } from "#base/first-place.ts";
import { pointFlags, rankWorker } from "#store/reader/points.ts";
import { type PointPlaces, toPlaces } from "./places.ts";
import type { Points } from "./points.ts";
import type { SeriesGroup, SeriesRequest } from "./request.ts";

/** The points of one group and key that one series takes. */
export interface Share {
  readonly points: Points;
  readonly places: PointPlaces;
  readonly count: number;
  /** Their numbers in order; null for all from `from` on. */
  readonly at: Uint32Array | null;
  readonly from: number;
}

export interface Chosen {
  readonly run: string;
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly shares: Share[];
}

/** The parts of all series that these points have a share in. `start` is when the run's first point of the request was. */
export function choose(
  points: Points,
  { group, key, start }: { readonly group: SeriesGroup; readonly key: string; readonly start: bigint },
  request: SeriesRequest,
): Chosen[] {
  const places = toPlaces(points, request.axis, start);
  if (places === null || points.count === 0) return [];
  const series: Chosen[] = [];
  const seriesOfSort = points.sorts.map((sort) => {
    const worker = sort.worker === rankWorker ? (group.worker ?? "") : sort.worker;
    if (request.worker !== null && worker !== request.worker) return -1;
    if (request.phase !== null && sort.phase !== request.phase) return -1;
    const shown = request.byWorker ? worker : "";
    const known = series.findIndex((one) => one.phase === sort.phase && one.worker === shown);
    if (known >= 0) return known;
    return series.push({ run: group.run, key, phase: sort.phase, worker: shown, shares: [] }) - 1;
  });
  const [from, to] = toTimeRange(points.tsNs, request);
  const lacks = { step: pointFlags.noStep, epoch: pointFlags.noEpoch, time: 0, relative: 0 }[request.axis];
  const hasAll = (points.lacking & lacks) === 0 && request.from === null && request.to === null;
  const isOne = series.length === 1 && !seriesOfSort.includes(-1);
  const lists =
    hasAll && isOne
      ? [{ count: to - from, at: null, from }]
      : pickPoints(points, { from, to, lacks, seriesOfSort, places, request, size: series.length });
  return series.flatMap((one, number) => {
    const list = lists[number] as PointList;
    if (list.count > 0) one.shares.push({ points, places, ...list });
    return list.count > 0 ? [one] : [];
  });
}

interface Picking {
  readonly from: number;
  readonly to: number;
  readonly lacks: number;
  readonly seriesOfSort: readonly number[];
  readonly places: PointPlaces;
  readonly request: SeriesRequest;
  readonly size: number;
}

type PointList = Pick<Share, "count" | "at" | "from">;

/** The points of each series, in order. */
function pickPoints(points: Points, picking: Picking): PointList[] {
  const { from, to, lacks, seriesOfSort, size } = picking;
  const { flags, sort } = points;
  const isInside = toWindow(picking);
  const seriesOf = (point: number): number => {
    if (((flags[point] as number) & lacks) !== 0 || (isInside !== null && !isInside(point))) return -1;
    return seriesOfSort[sort[point] as number] as number;
  };
  const counts = new Uint32Array(size);
  const ends = Array.from(counts, () => ({ first: 0, last: 0 }));
  for (let point = from; point < to; point++) {
    const number = seriesOf(point);
    if (number < 0) continue;
    const end = ends[number] as { first: number; last: number };
    if (counts[number] === 0) end.first = point;
    end.last = point;
    counts[number] = (counts[number] as number) + 1;
  }
  // A zoomed window is mostly one piece of the series.
  return ends.map(({ first, last }, number) => {
    const count = counts[number] as number;
    if (count === 0 || count === last - first + 1) return { count, at: null, from: first };
    const at = new Uint32Array(count);
    for (let point = first, next = 0; next < count; point++) if (seriesOf(point) === number) at[next++] = point;
    return { count, at, from: 0 };
  });
}

/** Null when there is no window on the axis. */
function toWindow({ places, request: { from, to } }: Picking): ((point: number) => boolean) | null {
  if (from === null && to === null) return null;
  const low = from === null ? Number.NEGATIVE_INFINITY : Number(from);
  const high = to === null ? Number.POSITIVE_INFINITY : Number(to);
  return (point) => {
    const here = places.numberAt(point);
    if (here > low && here < high) return true;
    if (here < low || here > high) return false;
    // What is equal as a number may differ in its last digits.
    const exact = places.exactAt(point);
    return (from === null || exact >= from) && (to === null || exact <= to);
  };
}

/** Points lie by time: those of a window in time are neighbours. */
function toTimeRange(tsNs: BigInt64Array, { fromNs, toNs }: SeriesRequest): [number, number] {
  const from = fromNs === null ? 0 : firstFrom(tsNs, fromNs);
  return [from, toNs === null ? tsNs.length : Math.max(from, firstFrom(tsNs, toNs + 1n))];
}

function firstFrom(tsNs: BigInt64Array, time: bigint): number {
  return firstPlace(0, tsNs.length, (point) => (tsNs[point] as bigint) < time);
}

/** The number of the i-th point of a share. */
export function pointAt({ at, from }: Share, i: number): number {
  return at === null ? from + i : (at[i] as number);
}

/** Whether a point goes before another in a series: by position, time, tie and entry. */
export function isBefore(a: Share, pointA: number, b: Share, pointB: number): boolean {
  const byPlace = a.places.compare(pointA, b.places, pointB);
  if (byPlace !== 0) return byPlace < 0;
  // Points of one group and key lie in order of time, tie and entry.
  if (a.points === b.points) return pointA < pointB;
  const [one, other] = [a.points, b.points];
  const order = [
    [one.tsNs[pointA], other.tsNs[pointB]],
    [one.tie[pointA], other.tie[pointB]],
    [one.entry[pointA], other.entry[pointB]],
  ] as [bigint, bigint][];
  for (const [left, right] of order) if (left !== right) return left < right;
  return false;
}
