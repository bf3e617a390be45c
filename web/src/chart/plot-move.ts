// Moving the shared window from inside a plot: Shift with a drag pans, Ctrl or ⌘ with the wheel zooms at the pointer.

import type uPlot from "uplot";
import { panWindow, type TimeWindow, wheelZoom } from "../clock/window.ts";

const tellMs = 60;

export interface PlotMoves {
  /** The shared window, which may be ahead of what is drawn; null when the whole run is shown. */
  readonly window: TimeWindow | null;
  /** The time at a place of the x axis. */
  timeOf(x: number): number | null;
  /** Called at most every `tellMs` while the window moves. */
  move(window: TimeWindow): void;
}

/** The window to move: the shared one, else the times at both ends of the axis. */
function shownWindow(plot: uPlot, moves: PlotMoves): TimeWindow | null {
  if (moves.window !== null) return moves.window;
  const { min, max } = plot.scales["x"] ?? {};
  const from = min == null ? null : moves.timeOf(min);
  const to = max == null ? null : moves.timeOf(max);
  return from === null || to === null || to <= from ? null : { from, to };
}

/** Begins a pan; the drag ends with the button, wherever the pointer is then. */
export function startPan(plot: uPlot, event: MouseEvent, moves: PlotMoves): void {
  const window = shownWindow(plot, moves);
  if (window === null) return;
  const widthPx = plot.over.clientWidth;
  let tell: ReturnType<typeof setTimeout> | undefined;
  let next = window;
  const onMove = (moved: MouseEvent) => {
    next = panWindow(window, (-(moved.clientX - event.clientX) / widthPx) * (window.to - window.from));
    tell ??= setTimeout(() => {
      tell = undefined;
      moves.move(next);
    }, tellMs);
  };
  const onUp = () => {
    removeEventListener("mousemove", onMove);
    removeEventListener("mouseup", onUp);
    clearTimeout(tell);
    if (next !== window) moves.move(next);
  };
  addEventListener("mousemove", onMove);
  addEventListener("mouseup", onUp);
}

export function zoomAt(plot: uPlot, event: WheelEvent, moves: PlotMoves): void {
  const window = shownWindow(plot, moves);
  if (window === null || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  const share = (event.clientX - plot.over.getBoundingClientRect().left) / plot.over.clientWidth;
  moves.move(wheelZoom(window, window.from + share * (window.to - window.from), event.deltaY));
}
