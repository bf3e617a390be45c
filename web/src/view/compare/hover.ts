// What the pointer reads off a chart of several runs: every run's value at one position, sorted. It changes with each
// mouse move, so it is kept outside of React and only its table follows it.

import { useSyncExternalStore } from "react";
import type { PlotSeries } from "../../chart/plot-data.ts";
import { nearestIndex } from "../../chart/scale.ts";
import { createListeners } from "../../part/listeners.ts";

export interface HoverRow {
  readonly run: string;
  readonly value: number | null;
  /** The bucket under the pointer holds points that are not a number. */
  readonly nan: boolean;
}

export interface Hover {
  readonly title: string;
  /** Where, in words. */
  readonly at: string;
  readonly rows: readonly HoverRow[];
}

let current: Hover | null = null;
const { subscribe, tell } = createListeners();

export function setHover(hover: Hover | null): void {
  current = hover;
  tell();
}

export function useHover(): Hover | null {
  return useSyncExternalStore(subscribe, () => current);
}

/** The positions a moment of the shared cursor stands for: those of the row it was taken from. */
export function positionOf(list: readonly PlotSeries[], t: number): { readonly x: number; readonly to: number } | null {
  let best: { away: number; x: number; to: number } | null = null;
  for (const series of list) {
    const row = nearestIndex(series.t, t);
    if (row < 0) continue;
    const away = Math.abs((series.t[row] ?? 0) - t);
    const x = series.x[row] ?? 0;
    if (best === null || away < best.away) best = { away, x, to: series.xLast[row] ?? x };
    if (away === 0) break;
  }
  return best;
}

/** Every run at a position, the least value first; a run that had not begun or had ended there is left out. */
export function readAt(list: readonly PlotSeries[], x: number): HoverRow[] {
  const rows = list.flatMap((series): HoverRow[] => {
    const row = nearestIndex(series.x, x);
    if (row < 0 || x < (series.x[0] ?? 0) || x > (series.x.at(-1) ?? 0)) return [];
    return [{ run: series.run, value: series.last[row] ?? null, nan: (series.nan[row] ?? 0) > 0 }];
  });
  return rows.sort((a, b) => (a.value ?? Number.POSITIVE_INFINITY) - (b.value ?? Number.POSITIVE_INFINITY));
}
