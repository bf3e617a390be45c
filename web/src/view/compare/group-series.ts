// Several runs as one line: their mean, with a band from the least to the greatest of their points. Each run has points
// at positions of its own: a few positions are kept as they are, many are put into common parts of the axis, so that the
// line does not jump from one run's points to another's. Between its points a run is interpolated; before its first and
// after its last it does not count.

import { largestOf, smallestOf } from "#base/extremes.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";

/** A line need not have more points than this, unless its runs have them at the same positions. */
const placesMax = 240;

/** Null when none of the runs has points. `name` takes the place of the run. */
export function groupSeries(name: string, members: readonly PlotSeries[]): PlotSeries | null {
  const [first] = members;
  if (first === undefined) return null;
  const places = commonPlaces(members);
  const { x } = places;
  const read = members.map((series) => readAtPlaces(series, places));
  const present = (i: number, column: keyof RunAtPlaces) => read.flatMap((run) => run[column][i] ?? []);
  const fold = (column: keyof RunAtPlaces, by: Summary) => x.map((_, i) => by(present(i, column)));
  const line = fold("line", mean);
  const t = fold("t", mean).map((at) => at ?? 0);
  const sums = (column: (series: PlotSeries) => readonly number[]) => sumAt(members, places, column);
  return {
    run: name,
    key: first.key,
    phase: first.phase,
    worker: null,
    points: members.reduce((sum, series) => sum + series.points, 0),
    x,
    xLast: x,
    t,
    tLast: t,
    line,
    last: line,
    min: fold("min", least),
    max: fold("max", greatest),
    count: x.map((_, i) => present(i, "line").length),
    nan: sums((series) => series.nan),
    posInf: sums((series) => series.posInf),
    negInf: sums((series) => series.negInf),
    banded: members.length > 1 || first.banded,
    ...(members.length > 1 ? { isMean: true } : {}),
  };
}

interface Places {
  /** Ascending: the first position of any run in each place. */
  readonly x: number[];
  /** The place that holds a position of a run. */
  placeOf(x: number): number;
}

function commonPlaces(members: readonly PlotSeries[]): Places {
  const all = [...new Set(members.flatMap((series) => series.x))].sort((a, b) => a - b);
  const longest = largestOf(members.map((series) => series.x.length));
  const low = all[0] ?? 0;
  const width = (all.at(-1) ?? 0) - low;
  const isFew = all.length <= Math.max(placesMax, longest);
  const partOf = isFew ? (at: number) => at : (at: number) => Math.floor(((at - low) / width) * (placesMax - 1));
  const x = all.filter((at, i) => i === 0 || partOf(at) !== partOf(all[i - 1] as number));
  const places = new Map(x.map((at, i) => [partOf(at), i]));
  return { x, placeOf: (at) => places.get(partOf(at)) ?? 0 };
}

type Column = (number | null)[];

interface RunAtPlaces {
  readonly line: Column;
  readonly min: Column;
  readonly max: Column;
  readonly t: Column;
}

/** A run at each place: what it has there, or what lies between its points before and after. */
function readAtPlaces(series: PlotSeries, places: Places): RunAtPlaces {
  const rows: number[][] = places.x.map(() => []);
  for (const [row, at] of series.x.entries()) rows[places.placeOf(at)]?.push(row);
  const take = (column: readonly (number | null)[], fold: Summary): Column => {
    const between = valuesBetween(series, places.x, column);
    const within = (own: readonly number[]) => fold(own.flatMap((row) => column[row] ?? []));
    return rows.map((own, i) => (own.length === 0 ? (between[i] ?? null) : within(own)));
  };
  return {
    line: take(series.line, mean),
    min: take(series.min, least),
    max: take(series.max, greatest),
    t: take(series.t, least),
  };
}

/** Of no values there is none. */
type Summary = (values: readonly number[]) => number | null;

const mean: Summary = (values) =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value / values.length, 0);
const least: Summary = (values) => (values.length === 0 ? null : smallestOf(values));
const greatest: Summary = (values) => (values.length === 0 ? null : largestOf(values));

/** A column at each of the positions: straight between two points, null outside and beside a gap. */
function valuesBetween(series: PlotSeries, x: readonly number[], column: readonly (number | null)[]): Column {
  let row = 0;
  return x.map((at) => {
    while (row + 1 < series.x.length && (series.x[row + 1] ?? 0) <= at) row++;
    const from = series.x[row] ?? 0;
    const low = column[row] ?? null;
    if (at === from || low === null) return at < from ? null : low;
    const to = series.x[row + 1];
    const high = column[row + 1] ?? null;
    if (at < from || to === undefined || high === null) return null;
    return low + ((high - low) * (at - from)) / (to - from);
  });
}

function sumAt(
  members: readonly PlotSeries[],
  { x, placeOf }: Places,
  column: (series: PlotSeries) => readonly number[],
): number[] {
  const sums = x.map(() => 0);
  for (const series of members)
    column(series).forEach((count, row) => {
      const place = placeOf(series.x[row] ?? 0);
      sums[place] = (sums[place] ?? 0) + count;
    });
  return sums;
}
