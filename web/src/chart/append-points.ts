// New points at the end of a series. If its history is in buckets, they are put into buckets of the same width: single
// points would be drawn denser than the history and look like rising noise.

import { type PlotColumns, type PlotSeries, plotColumns } from "./plot-data.ts";

export interface LivePoint {
  readonly x: number | null;
  readonly t: number;
  readonly value: number;
  /** How many points it stands for. */
  readonly count: number;
}

type PlacedPoint = LivePoint & { readonly x: number };

/** The series with new points at its end. Points before its last position belong to a bucket and wait for the next answer. */
export function appendPoints(series: PlotSeries, points: readonly LivePoint[]): PlotSeries {
  const end = series.xLast.at(-1) ?? Number.NEGATIVE_INFINITY;
  const fresh = points.filter((point): point is PlacedPoint => point.x !== null && point.x > end);
  if (fresh.length === 0) return series;
  fresh.sort((a, b) => a.x - b.x);
  const buckets = toBuckets(fresh, end, series.banded ? bucketWidth(series) : 0).map(toRow);
  const grown = plotColumns.map((name) => [name, [...series[name], ...buckets.map((row) => row[name])]]);
  return { ...series, ...(Object.fromEntries(grown) as PlotColumns), points: series.points + countOf(fresh) };
}

/** How much of the axis a bucket of the history covers. */
function bucketWidth({ x, xLast }: PlotSeries): number {
  return ((xLast.at(-1) ?? 0) - (x[0] ?? 0)) / Math.max(1, x.length);
}

/** Neighbours within one width; without a width, each point for itself. */
function toBuckets(points: readonly PlacedPoint[], end: number, width: number): PlacedPoint[][] {
  if (width <= 0) return points.map((point) => [point]);
  const parts = Map.groupBy(points, (point) => Math.floor((point.x - end) / width));
  return [...parts.values()];
}

/** How many points these stand for. */
export function countOf(points: readonly Pick<LivePoint, "count">[]): number {
  return points.reduce((sum, { count }) => sum + count, 0);
}

function toRow(points: readonly PlacedPoint[]) {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined) throw new Error("a bucket has a point");
  const finite = points.map((point) => point.value).filter(Number.isFinite);
  const isNone = finite.length === 0;
  const max = isNone ? null : finite.reduce((a, b) => Math.max(a, b));
  const count = (is: (value: number) => boolean) => points.filter((point) => is(point.value)).length;
  return {
    x: first.x,
    xLast: last.x,
    t: first.t,
    tLast: last.t,
    line: isNone ? null : finite.reduce((a, b) => a + b) / finite.length,
    last: Number.isFinite(last.value) ? last.value : max,
    min: isNone ? null : finite.reduce((a, b) => Math.min(a, b)),
    max,
    count: countOf(points),
    nan: count(Number.isNaN),
    posInf: count((value) => value === Number.POSITIVE_INFINITY),
    negInf: count((value) => value === Number.NEGATIVE_INFINITY),
  };
}
