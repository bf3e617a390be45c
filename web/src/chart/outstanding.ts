// A pixel may stand for several rows, and no hand is exact to one: pointing near a spike means the spike. Pure.

import type { PlotSeries } from "./plot-data.ts";
import { lowerBound, medianOf } from "./scale.ts";

/** How much further out than the row under the pointer another must be to be taken for what is meant. */
const factor = 4;

/** The row within reach that stands out from its neighbours, if the nearest does not; else the nearest. */
export function outstandingRow(series: PlotSeries, nearest: number, x: number, reach: number): number {
  const from = lowerBound(series.x, x - reach);
  const to = lowerBound(series.x, x + reach);
  if (to - from < 2) return nearest;
  const middle = medianOf(series.line.slice(Math.max(0, from - 8), to + 8).filter((value) => value !== null));
  const away = (row: number) =>
    Math.max(Math.abs((series.max[row] ?? middle) - middle), Math.abs((series.min[row] ?? middle) - middle));
  let best = nearest;
  for (let row = from; row < to; row++) if (away(row) > away(best)) best = row;
  return away(best) > factor * away(nearest) ? best : nearest;
}

type Column = readonly (number | null)[];

/** A line without an envelope, where there is no room for one: it goes through what stands out of a bucket. */
export function throughExtremes(line: Column, min: Column, max: Column): (number | null)[] {
  const spreads = max.flatMap((high, row) => {
    const low = min[row] ?? null;
    return high === null || low === null ? [] : [high - low];
  });
  const usual = medianOf(spreads);
  return line.map((value, row) => {
    const [high, low] = [max[row] ?? null, min[row] ?? null];
    if (value === null || high === null || low === null) return value;
    if (Math.max(high - value, value - low) <= factor * usual) return value;
    return high - value >= value - low ? high : low;
  });
}
