// Several runs as one line: their mean, with a band from the least to the greatest. Runs sent their points at positions
// of their own, so each is read between its points; outside of its first and last point it has no say.

import { largestOf, smallestOf } from "#base/extremes.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";

/** Null when none of the runs has points. `name` takes the place of the run. */
export function groupSeries(name: string, members: readonly PlotSeries[]): PlotSeries | null {
  const [first] = members;
  if (first === undefined) return null;
  const x = [...new Set(members.flatMap((series) => series.x))].sort((a, b) => a - b);
  const values = members.map((series) => valuesAt(series, x, series.line));
  const times = members.map((series) => valuesAt(series, x, series.t));
  const rows = x.map((_, i) => present(values, i));
  const t = x.map((_, i) => mean(present(times, i)) ?? 0);
  const line = rows.map(mean);
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
    min: rows.map((row) => (row.length === 0 ? null : smallestOf(row))),
    max: rows.map((row) => (row.length === 0 ? null : largestOf(row))),
    count: rows.map((row) => row.length),
    nan: sumAt(members, x, (series) => series.nan),
    posInf: sumAt(members, x, (series) => series.posInf),
    negInf: sumAt(members, x, (series) => series.negInf),
    banded: members.length > 1,
  };
}

function present(columns: readonly (readonly (number | null)[])[], i: number): number[] {
  return columns.flatMap((column) => column[i] ?? []);
}

function mean(row: readonly number[]): number | null {
  return row.length === 0 ? null : row.reduce((sum, value) => sum + value, 0) / row.length;
}

/** A column at each of the positions, which hold those of the series: straight between two points, null outside. */
function valuesAt(series: PlotSeries, x: readonly number[], column: readonly (number | null)[]): (number | null)[] {
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
  x: readonly number[],
  column: (series: PlotSeries) => readonly number[],
): number[] {
  const sums = new Map<number, number>();
  for (const series of members)
    column(series).forEach((count, row) => {
      const at = series.x[row] ?? 0;
      if (count > 0) sums.set(at, (sums.get(at) ?? 0) + count);
    });
  return x.map((at) => sums.get(at) ?? 0);
}
