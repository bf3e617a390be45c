// One plot: uPlot beneath, our marks above, joined to the shared clock. The cursor is followed without React: a
// mouse move redraws nothing but the cursor line and the readouts.

import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import type { Axis } from "#api/contract/series.ts";
import { inks } from "../app/theme.ts";
import { getCursor, onCursor, setCursor } from "../clock/cursor.ts";
import type { TimeWindow } from "../clock/window.ts";
import type { Theme } from "./colour.ts";
import type { PlotSeries } from "./plot-data.ts";
import { drawEvents, drawNonFinite, type PlotEvent } from "./plot-draw.ts";
import { type PlotChoices, toPlotModel } from "./plot-model.ts";
import { type PlotMoves, startPan, zoomAt } from "./plot-move.ts";
import { type PlotLook, toAxes, toColumns, toScale, toSeriesOptions } from "./plot-options.ts";
import { nearestIndex } from "./scale.ts";
import "uplot/dist/uPlot.min.css";
import "./plot.css";

export interface PlotProps {
  readonly id: string;
  readonly series: readonly PlotSeries[];
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly colours: readonly string[];
  readonly theme: Theme;
  readonly height: number;
  readonly startMs: number;
  readonly label: string;
  readonly hidden?: ReadonlySet<number>;
  readonly events?: readonly PlotEvent[];
  /** The x range to show in the axis' unit; the data's own when absent. */
  readonly xRange?: readonly [number, number] | null;
  /** The shared window, for pans and zooms to start from. */
  readonly window?: TimeWindow | null;
  /** A brush, a pan or a zoom; null clears. */
  readonly onBrush?: (window: TimeWindow | null) => void;
  /** Called on cursor moves with the row of each series under it, or null when the cursor is away. */
  readonly onRead?: (rows: readonly (number | null)[] | null) => void;
}

const none: ReadonlySet<number> = new Set();

export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const model = useMemo(() => toPlotModel(props.series, props.choices), [props.series, props.choices]);
  const modelRef = useRef(model);
  modelRef.current = model;
  const { axis, theme, choices, hidden = none, colours, startMs, height, id } = props;
  const look = useMemo<PlotLook>(
    () => ({ axis, scale: choices.scale, colours, inks: inks[theme], hidden, startMs }),
    [axis, choices.scale, colours, theme, hidden, startMs],
  );
  const shape = useMemo(() => toSeriesOptions(model, look), [model, look]);
  // A new plot is made only when its shape changes; new data is handed to the one that is there.
  const shapeKey = JSON.stringify([shape, axis, choices.scale, theme, startMs]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for shape and look.
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const made = new uPlot(
      {
        width: Math.max(80, element.clientWidth),
        height,
        padding: [6, 10, 0, 0],
        legend: { show: false },
        cursor: {
          y: false,
          points: { size: 6 },
          drag: { x: true, y: false, setScale: false },
          bind: {
            mousedown: (made, _target, handle) => (event) => {
              if (event.button === 0 && event.shiftKey) startPan(made, event, movesOf(latest.current));
              else handle(event);
              return null;
            },
            dblclick: () => () => {
              latest.current.onBrush?.(null);
              return null;
            },
          },
        },
        scales: {
          x: { time: false, range: (_plot, min, max) => xRangeOf(latest.current.xRange, min, max) },
          y: toScale(choices.scale, () => modelRef.current),
        },
        axes: toAxes(look),
        series: shape.series,
        bands: shape.bands,
        hooks: {
          draw: [(made) => drawOver(made, latest.current)],
          setCursor: [(made) => publishCursor(made, latest.current, id)],
          setSelect: [(made) => publishBrush(made, latest.current)],
        },
      },
      toColumns(modelRef.current),
      element,
    );
    plot.current = made;
    const onWheel = (event: WheelEvent) => zoomAt(made, event, movesOf(latest.current));
    made.over.addEventListener("wheel", onWheel, { passive: false });
    const resize = new ResizeObserver(() => made.setSize({ width: Math.max(80, element.clientWidth), height }));
    resize.observe(element);
    const stop = onCursor(() => followCursor(made, latest.current, id));
    // Its scales are known a frame later.
    const frame = requestAnimationFrame(() => getCursor() !== null && followCursor(made, latest.current, ""));
    return () => {
      cancelAnimationFrame(frame);
      stop();
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shapeKey, height, id]);

  useEffect(() => {
    plot.current?.setData(toColumns(model));
  }, [model]);
  const rangeKey = props.xRange?.join() ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys stand for range and events.
  useEffect(() => {
    plot.current?.setData(toColumns(modelRef.current));
  }, [rangeKey, props.events]);
  return <div ref={host} className="plot" role="img" aria-label={props.label} style={{ height }} />;
}

function movesOf(props: PlotProps): PlotMoves {
  return {
    window: props.window ?? null,
    timeOf: (x) => timeOfX(x, props.axis, props.series),
    move: (window) => props.onBrush?.(window),
  };
}

function xRangeOf(
  wanted: readonly [number, number] | null | undefined,
  min: number | null,
  max: number | null,
): uPlot.Range.MinMax {
  if (wanted !== null && wanted !== undefined) return [wanted[0], wanted[1]];
  if (min === null || max === null) return [0, 1];
  return min === max ? [min - 1, max + 1] : [min, max];
}

function drawOver(plot: uPlot, props: PlotProps): void {
  drawNonFinite(plot, props.series, props.colours, inks[props.theme]);
  const first = props.series[0];
  if (props.events === undefined || first === undefined) return;
  const placed = props.events.map((event) => ({ kind: event.kind, x: xOfTime(event.t, props.axis, first) }));
  drawEvents(plot, placed, inks[props.theme]);
}

function xOfTime(t: number, axis: Axis, series: PlotSeries): number {
  if (axis === "time" || axis === "relative") return t;
  return series.x[nearestIndex(series.t, t)] ?? Number.NaN;
}

/** The time of a position: itself on a time axis, else that of the nearest row of any series. */
function timeOfX(x: number, axis: Axis, list: readonly PlotSeries[]): number | null {
  if (axis === "time" || axis === "relative") return x;
  let best: { away: number; t: number } | null = null;
  for (const series of list) {
    const row = nearestIndex(series.x, x);
    if (row < 0) continue;
    const away = Math.abs((series.x[row] ?? 0) - x);
    if (best === null || away < best.away) best = { away, t: series.t[row] ?? 0 };
  }
  return best?.t ?? null;
}

let following = false;

function publishCursor(plot: uPlot, props: PlotProps, id: string): void {
  if (following) return;
  const left = plot.cursor.left ?? -1;
  if (left < 0) {
    if (getCursor()?.from === id) setCursor(null);
    return;
  }
  // New data moves a plot's cursor too; only the pointer moves the shared one.
  if (!plot.over.matches(":hover")) return;
  const t = timeOfX(plot.posToVal(left, "x"), props.axis, props.series);
  if (t !== null) setCursor({ t, from: id });
}

/** Draws the shared cursor, unless the pointer is in this very plot (`id`), which draws its own. */
function followCursor(plot: uPlot, props: PlotProps, id: string): void {
  const cursor = getCursor();
  if (cursor === null) {
    props.onRead?.(null);
  } else {
    props.onRead?.(props.series.map((series) => rowAt(series, cursor.t)));
  }
  if (cursor?.from === id) return;
  const first = props.series[0];
  const x = cursor === null || first === undefined ? Number.NaN : xOfTime(cursor.t, props.axis, first);
  const left = Number.isNaN(x) ? -10 : plot.valToPos(x, "x");
  following = true;
  plot.setCursor({ left, top: left < 0 ? -10 : 1 }, false);
  following = false;
}

/** The row a moment falls on, unless the series has nothing near it. */
function rowAt(series: PlotSeries, t: number): number | null {
  const row = nearestIndex(series.t, t);
  return row < 0 ? null : row;
}

function publishBrush(plot: uPlot, props: PlotProps): void {
  const { left, width } = plot.select;
  if (width < 3 || props.onBrush === undefined) return;
  const from = timeOfX(plot.posToVal(left, "x"), props.axis, props.series);
  const to = timeOfX(plot.posToVal(left + width, "x"), props.axis, props.series);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (from !== null && to !== null && to > from) props.onBrush({ from, to: to + 1 });
}
