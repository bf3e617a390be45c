// A plot and the shared cursor: what the pointer is on, where the cursor of another panel stands here, and moving it
// by keys. Nothing here goes through React: a mouse move redraws only the cursor lines and the readouts.

import type uPlot from "uplot";
import type { Axis } from "#api/contract/series.ts";
import { type Cursor, getCursor, isPinned, setCursor } from "../clock/cursor.ts";
import { momentOf } from "../clock/step-clock.ts";
import type { TimeWindow } from "../clock/window.ts";
import { formatNumber } from "../text/format-number.ts";
import { formatElapsed } from "../text/format-time.ts";
import { outstandingRow } from "./outstanding.ts";
import { nearestStretch, type PlotSeries, rowAtTime } from "./plot-data.ts";

export interface CursorPlot {
  readonly id: string;
  readonly axis: Axis;
  readonly series: readonly PlotSeries[];
  readonly hidden?: ReadonlySet<number>;
  /** The metric, as `panelId` names it. */
  readonly of?: string;
  /** Called with the row of each series under the cursor, or null when the cursor is away. */
  readonly onRead?: (rows: readonly (number | null)[] | null) => void;
  /** A click or Enter on a step or bucket. */
  readonly onPin?: (cursor: Cursor) => void;
}

export function isTimed(axis: Axis): boolean {
  return axis === "time" || axis === "relative";
}

/**
 * Where a time stands on an axis: on the row it belongs to, give or take `within`, else between two rows, as if steps passed
 * evenly there.
 */
export function xOfTime(t: number, axis: Axis, series: PlotSeries, within = 0): number {
  if (isTimed(axis)) return t;
  const row = rowAtTime(series, t);
  const [from = 0, to = 0] = [series.t[row], series.tLast[row]];
  const x = series.x[row] ?? Number.NaN;
  if (t >= from - within && t <= to + within) return x;
  const other = t < from ? row - 1 : row + 1;
  const [otherT, otherX] = [series.t[other], series.x[other]];
  return otherT === undefined || otherX === undefined || otherT === from
    ? x
    : x + ((otherX - x) * (t - from)) / (otherT - from);
}

/** How far from the pointer something that stands out is still meant. */
const reachPx = 4;

/** The cursor on the row under a place of the plot. */
function cursorAtPx(plot: uPlot, target: CursorPlot, left: number): Cursor | null {
  const x = plot.posToVal(left, "x");
  return cursorAtX(target, x, Math.abs(plot.posToVal(left + reachPx, "x") - x));
}

/** The cursor on the row nearest to a position, of whichever visible series has it, or on what stands out within reach. */
function cursorAtX(target: CursorPlot, x: number, reach = 0): Cursor | null {
  let best: { away: number; series: PlotSeries; row: number } | null = null;
  target.series.forEach((series, i) => {
    const row = nearestStretch(series.x, series.xLast, x);
    if (row < 0 || target.hidden?.has(i) === true) return;
    const away = Math.max(0, (series.x[row] ?? 0) - x, x - (series.xLast[row] ?? 0));
    if (best === null || away < best.away) best = { away, series, row };
  });
  if (best === null) return null;
  const { series, row } = best as { series: PlotSeries; row: number };
  const meant = outstandingRow(series, row, x, reach);
  return cursorAtRow(target, series, meant, isTimed(target.axis) && meant === row ? x : undefined);
}

function cursorAtRow(target: CursorPlot, series: PlotSeries, row: number, t = series.t[row] ?? 0): Cursor {
  const { from, to } = momentOf(series.tLast, row);
  const { axis, id, of } = target;
  return {
    t,
    from: id,
    moment: { from, to },
    ...(axis === "step" || axis === "epoch" ? { at: { axis, x: series.x[row] ?? 0 } } : {}),
    ...(of === undefined ? {} : { of }),
  };
}

/** The time of a position: itself on a time axis, else that of the nearest row of any series. */
export function timeOfX(target: CursorPlot, x: number): number | null {
  return isTimed(target.axis) ? x : (cursorAtX(target, x)?.t ?? null);
}

let following = false;

export function publishCursor(plot: uPlot, target: CursorPlot): void {
  if (following) return;
  const left = plot.cursor.left ?? -1;
  if (left < 0) {
    if (getCursor()?.from === target.id) setCursor(null);
    return;
  }
  // New data moves a plot's cursor too; only the pointer moves the shared one.
  if (!plot.over.matches(":hover")) return;
  const cursor = cursorAtPx(plot, target, left);
  if (cursor !== null) setCursor(cursor);
}

/** Draws the shared cursor, unless the pointer is in this very plot, which draws its own. */
export function followCursor(plot: uPlot, target: CursorPlot): void {
  const cursor = getCursor();
  plot.root.classList.toggle("pinned", isPinned());
  const rows = cursor === null ? null : target.series.map((series) => rowOrNull(series, cursor.t));
  target.onRead?.(rows);
  describe(plot, target, rows);
  if (cursor?.from === target.id) return;
  const first = target.series[0];
  const x = cursor === null || first === undefined ? Number.NaN : xOfCursor(cursor, target.axis, first);
  const left = Number.isNaN(x) ? -10 : plot.valToPos(x, "x");
  following = true;
  plot.setCursor({ left, top: left < 0 ? -10 : 1 }, false);
  following = false;
}

function xOfCursor({ t, at, moment }: Cursor, axis: Axis, series: PlotSeries): number {
  if (at?.axis === axis) return at.x;
  return xOfTime(t, axis, series, moment === undefined ? 0 : moment.to - moment.from);
}

function rowOrNull(series: PlotSeries, t: number): number | null {
  const row = rowAtTime(series, t);
  return row < 0 ? null : row;
}

/** What a screen reader says of the place the cursor is at. */
function describe(plot: uPlot, target: CursorPlot, rows: readonly (number | null)[] | null): void {
  const host = plot.root.parentElement;
  const [series, row] = [target.series[0], rows?.[0]];
  if (host === null || series === undefined || row === null || row === undefined) return;
  const x = series.x[row] ?? 0;
  const place = isTimed(target.axis) ? formatElapsed(x, 1e6) : `${target.axis} ${formatNumber(x)}`;
  const values = target.series.map((each, i) => formatNumber(each.line[rows?.[i] ?? -1] ?? Number.NaN));
  host.setAttribute("aria-valuenow", String(row));
  host.setAttribute("aria-valuetext", `${place}: ${values.join(", ")}`);
}

/** Arrows move the cursor by a row, with Shift by ten; Enter pins it. A pinned moment is moved itself. */
export function cursorKey(event: { readonly key: string; readonly shiftKey: boolean }, target: CursorPlot): boolean {
  const series = target.series.find((_, i) => target.hidden?.has(i) !== true);
  if (series === undefined || series.x.length === 0) return false;
  const cursor = getCursor();
  const at = cursor === null ? -1 : rowAtTime(series, cursor.t);
  const end = series.x.length - 1;
  const by = event.shiftKey ? 10 : 1;
  const places: Record<string, number> = {
    ArrowLeft: at < 0 ? end : Math.max(0, at - by),
    ArrowRight: Math.min(end, at + by),
    Home: 0,
    End: end,
    Enter: at < 0 ? end : at,
  };
  const row = places[event.key];
  if (row === undefined) return false;
  // Not this plot's own name: its cursor is drawn for it as for the others.
  const next = { ...cursorAtRow(target, series, row), from: `${target.id} keys` };
  if (event.key === "Enter" || isPinned()) target.onPin?.(next);
  else setCursor(next);
  return true;
}

/** A click without a drag pins what is under it. */
export function listenClicks(plot: uPlot, target: () => CursorPlot): void {
  let downX = Number.NaN;
  plot.over.addEventListener("mousedown", (event) => {
    downX = event.button === 0 && !event.shiftKey ? event.clientX : Number.NaN;
  });
  plot.over.addEventListener("click", (event) => {
    if (!(Math.abs(event.clientX - downX) < 3)) return;
    const left = event.clientX - plot.over.getBoundingClientRect().left;
    const cursor = cursorAtPx(plot, target(), left);
    if (cursor !== null) target().onPin?.(cursor);
  });
}

/** What a drag selected, as times; null when it was too short to mean anything. */
export function brushedWindow(plot: uPlot, target: CursorPlot): TimeWindow | null {
  const { left, width } = plot.select;
  if (width < 3) return null;
  const from = timeOfX(target, plot.posToVal(left, "x"));
  const to = timeOfX(target, plot.posToVal(left + width, "x"));
  return from !== null && to !== null && to > from ? { from, to: to + 1 } : null;
}
