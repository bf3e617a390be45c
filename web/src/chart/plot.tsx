// One plot: uPlot beneath, our marks above, joined to the shared clock.

import { type RefObject, useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import { inksOf } from "../app/theme.ts";
import { getCursor, isPinned, onCursor } from "../clock/cursor.ts";
import type { TimeWindow } from "../clock/window.ts";
import type { Theme } from "./colour.ts";
import {
  brushedWindow,
  type CursorPlot,
  cursorKey,
  followCursor,
  isTimed,
  listenClicks,
  publishCursor,
  timeOfX,
  xOfTime,
} from "./plot-cursor.ts";
import { drawEvents, drawNonFinite, type PlotEvent } from "./plot-draw.ts";
import { type PlotChoices, type PlotModel, toPlotModel } from "./plot-model.ts";
import { type PlotMoves, startPan, zoomAt } from "./plot-move.ts";
import { type PlotLook, toAxes, toColumns, toScale, toSeriesOptions } from "./plot-options.ts";
import "uplot/dist/uPlot.min.css";
import "./plot.css";

export interface PlotProps extends CursorPlot {
  readonly choices: PlotChoices;
  readonly colours: readonly string[];
  readonly theme: Theme;
  readonly height: number;
  readonly startMs: number;
  readonly label: string;
  readonly events?: readonly PlotEvent[];
  /** The x range to show in the axis' unit; the data's own when absent. */
  readonly xRange?: readonly [number, number] | null;
  /** The shared window, for pans and zooms to start from. */
  readonly window?: TimeWindow | null;
  /** A brush, a pan or a zoom; null clears. */
  readonly onBrush?: (window: TimeWindow | null) => void;
}

const none: ReadonlySet<number> = new Set();

/** What the library's callbacks read: always the newest. */
interface Latest {
  readonly props: PlotProps;
  readonly model: PlotModel;
}

export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const model = useMemo(() => toPlotModel(props.series, props.choices), [props.series, props.choices]);
  const latest = useRef<Latest>({ props, model });
  latest.current = { props, model };
  const { axis, theme, choices, hidden = none, colours, startMs, height, id } = props;
  const { linear } = model;
  const look = useMemo<PlotLook>(
    () => ({ axis, scale: choices.scale, linear, colours, inks: inksOf(theme), hidden, startMs }),
    [axis, choices.scale, linear, colours, theme, hidden, startMs],
  );
  const shape = useMemo(() => toSeriesOptions(model, look), [model, look]);
  // A new plot is made only when its shape changes; new data is handed to the one that is there.
  const shapeKey = JSON.stringify([shape, axis, choices.scale, linear, theme, startMs]);
  /** What the plot has got; a new one is made with its data, and need not be given it once more. */
  const drawn = useRef<PlotModel | null>(null);
  const fresh = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for shape and look.
  useEffect(() => {
    if (host.current === null) return;
    const made = createPlot(host.current, height, look, latest);
    plot.current = made.plot;
    drawn.current = latest.current.model;
    fresh.current = true;
    return () => {
      made.close();
      plot.current = null;
    };
  }, [shapeKey, height, id]);

  useEffect(() => {
    if (drawn.current === model) return;
    drawn.current = model;
    plot.current?.setData(toColumns(model));
  }, [model]);
  const rangeKey = props.xRange?.join() ?? "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: the keys stand for range and events.
  useEffect(() => {
    const isFresh = fresh.current;
    fresh.current = false;
    if (isFresh) return;
    plot.current?.setData(toColumns(latest.current.model));
    if (plot.current !== null && getCursor() !== null) followCursor(plot.current, latest.current.props);
  }, [rangeKey, props.events, shapeKey, height, id]);
  return (
    <div
      ref={host}
      className="plot"
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, (props.series[0]?.x.length ?? 0) - 1)}
      aria-valuenow={0}
      aria-valuetext="arrow keys read it, Enter pins the moment"
      style={{ height }}
      onKeyDown={(event) => {
        if (cursorKey(event, latest.current.props)) event.preventDefault();
      }}
    />
  );
}

function createPlot(element: HTMLElement, height: number, look: PlotLook, latest: RefObject<Latest>) {
  const shape = toSeriesOptions(latest.current.model, look);
  const width = () => Math.max(80, element.clientWidth);
  const plot = new uPlot(
    {
      width: width(),
      height,
      // Half of the last label stands beyond the end of the axis.
      padding: [6, isTimed(look.axis) ? 30 : 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: false }, bind: toBinds(latest) },
      scales: {
        x: { time: false, range: () => xRangeOf(latest.current) },
        y: toScale(look, () => latest.current.model),
      },
      axes: toAxes(look),
      series: shape.series,
      bands: shape.bands,
      hooks: {
        draw: [(made) => drawOver(made, latest.current.props)],
        setCursor: [(made) => publishCursor(made, latest.current.props)],
        setSelect: [(made) => publishBrush(made, latest.current.props)],
      },
    },
    toColumns(latest.current.model),
    element,
  );
  const onWheel = (event: WheelEvent) => zoomAt(plot, event, movesOf(latest.current.props));
  plot.over.addEventListener("wheel", onWheel, { passive: false });
  listenClicks(plot, () => latest.current.props);
  const resize = new ResizeObserver(() => plot.setSize({ width: width(), height }));
  resize.observe(element);
  const stop = onCursor(() => followCursor(plot, latest.current.props));
  // Its scales are known a frame later.
  const frame = requestAnimationFrame(() => getCursor() !== null && followCursor(plot, latest.current.props));
  return {
    plot,
    close() {
      cancelAnimationFrame(frame);
      stop();
      resize.disconnect();
      plot.destroy();
    },
  };
}

/** While a moment is pinned, a pointer that only passes over the plot does not move its cursor. */
function toBinds(latest: RefObject<Latest>): uPlot.Cursor.Bind {
  const unlessPinned: uPlot.Cursor.MouseListenerFactory = (_plot, _target, handle) => (event) => {
    if (!isPinned() || event.buttons !== 0) handle(event);
    return null;
  };
  return {
    mousemove: unlessPinned,
    mouseleave: unlessPinned,
    mousedown: (plot, _target, handle) => (event) => {
      if (event.button === 0 && event.shiftKey) startPan(plot, event, movesOf(latest.current.props));
      else handle(event);
      return null;
    },
    dblclick: () => () => {
      latest.current.props.onBrush?.(null);
      return null;
    },
  };
}

function movesOf(props: PlotProps): PlotMoves {
  return {
    window: props.window ?? null,
    timeOf: (x) => timeOfX(props, x),
    move: (window) => props.onBrush?.(window),
  };
}

/** What is wanted, or from the first point to the last. Round about a single point the library would take far too much. */
function xRangeOf({ props, model }: Latest): uPlot.Range.MinMax {
  const [from, to] = props.xRange ?? [model.x[0] ?? 0, model.x.at(-1) ?? 1];
  const room = isTimed(props.axis) ? 1e9 : 1;
  return from === to ? [from - room, to + room] : [from, to];
}

function drawOver(plot: uPlot, props: PlotProps): void {
  drawNonFinite(plot, props.series, props.colours, inksOf(props.theme));
  const first = props.series[0];
  if (props.events === undefined || first === undefined) return;
  const placed = props.events.map((event) => ({ kind: event.kind, x: xOfTime(event.t, props.axis, first) }));
  drawEvents(plot, placed, inksOf(props.theme));
}

function publishBrush(plot: uPlot, props: PlotProps): void {
  const window = brushedWindow(plot, props);
  if (plot.select.width > 0) plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (window !== null) props.onBrush?.(window);
  if (isPinned()) followCursor(plot, props);
}
