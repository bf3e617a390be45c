// The flame chart: draws a scene when something changed, and turns pointer and keys into moves of the view.

import { type PointerEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { inks, useTheme } from "../../app/theme.ts";
import { assignColours } from "../../chart/colour.ts";
import { getCursor, onCursor, setCursor } from "../../clock/cursor.ts";
import { panWindow, type TimeWindow, zoomWindow } from "../../clock/window.ts";
import { useChartEvents } from "../charts/use-chart-events.ts";
import { type Boxes, boxAt } from "./boxes.ts";
import { drawTimeline, gutterPx, rulerPx, type Scene } from "./draw.ts";
import { placeLanes, rowAt } from "./lanes.ts";

export interface PickedBox {
  readonly boxes: Boxes;
  readonly box: number;
}

export interface CanvasProps {
  readonly layers: readonly Boxes[];
  readonly view: TimeWindow;
  readonly extent: TimeWindow;
  readonly wanted: ((name: string) => boolean) | null;
  readonly selectedId: string;
  readonly onMove: (view: TimeWindow) => void;
  readonly onWidth: (px: number) => void;
  readonly onHover: (picked: PickedBox | null) => void;
  readonly onSelect: (picked: PickedBox | null) => void;
  readonly onFit: (picked: PickedBox | null) => void;
}

export function TimelineCanvas(props: CanvasProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const events = useChartEvents();
  const [size, setSize] = useState({ width: 800, height: 300 });
  const [scrollTop, setScrollTop] = useState(0);
  const [hovered, setHovered] = useState<PickedBox | null>(null);
  const drag = useRef<{ x: number; view: TimeWindow; moved: boolean } | null>(null);
  const lanes = props.layers[0]?.answer.lanes;
  const { placed, height } = useMemo(() => placeLanes(lanes ?? []), [lanes]);
  const names = useMemo(() => [...new Set(props.layers.flatMap((layer) => layer.answer.names))], [props.layers]);
  const namesKey = names.join("\n");
  const colours = useMemo(() => assignColours(namesKey.split("\n"), theme), [namesKey, theme]);

  const { onWidth } = props;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
      onWidth(Math.max(100, element.clientWidth - gutterPx));
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, [onWidth]);

  const scene = useMemo<Omit<Scene, "cursor">>(
    () => ({
      ...size,
      scrollTop,
      view: props.view,
      layers: props.layers,
      placed,
      colours,
      inks: inks[theme],
      wanted: props.wanted,
      selectedId: props.selectedId,
      hovered,
      events,
    }),
    [
      size,
      scrollTop,
      props.view,
      props.layers,
      placed,
      colours,
      theme,
      props.wanted,
      props.selectedId,
      hovered,
      events,
    ],
  );
  useLayoutEffect(() => paint(canvas.current, scene), [scene]);
  useEffect(() => onCursor(() => paint(canvas.current, scene)), [scene]);

  const latest = useRef({ scene, props });
  latest.current = { scene, props };
  // React's wheel listener is passive and could not keep the page from scrolling.
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const { scene: now, props: given } = latest.current;
      if (event.offsetX < gutterPx) return;
      event.preventDefault();
      const length = now.view.to - now.view.from;
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (sideways) {
        const by = event.deltaX === 0 ? event.deltaY : event.deltaX;
        given.onMove(panWindow(now.view, (by / (now.width - gutterPx)) * length));
      } else {
        const at = now.view.from + ((event.offsetX - gutterPx) / (now.width - gutterPx)) * length;
        given.onMove(zoomWindow(now.view, at, Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.0022)));
      }
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const timeAt = (x: number) =>
    props.view.from + ((x - gutterPx) / (size.width - gutterPx)) * (props.view.to - props.view.from);
  const pick = (event: PointerEvent | React.MouseEvent): PickedBox | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const found = rowAt(placed, event.clientY - box.top - rulerPx + scrollTop);
    if (found === null) return null;
    const slack = ((props.view.to - props.view.from) / (size.width - gutterPx)) * 3;
    for (const boxes of props.layers.toReversed()) {
      const row = boxes.rows.find((each) => each.lane === found.lane.lane.id && each.depth === found.depth);
      const at = row === undefined ? -1 : boxAt(boxes, row, timeAt(event.clientX - box.left), slack);
      if (at >= 0) return { boxes, box: at };
    }
    return null;
  };
  const onPointerMove = (event: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return;
    const held = drag.current;
    if (held !== null) {
      const by = event.clientX - held.x;
      if (Math.abs(by) > 3) held.moved = true;
      const length = held.view.to - held.view.from;
      if (held.moved) props.onMove(panWindow(held.view, (-by / (size.width - gutterPx)) * length));
      return;
    }
    const x = event.clientX - box.left;
    setCursor(x < gutterPx ? null : { t: timeAt(x), from: "timeline" });
    const picked = pick(event);
    if (picked?.box !== hovered?.box || picked?.boxes !== hovered?.boxes) {
      setHovered(picked);
      props.onHover(picked);
    }
  };
  return (
    <div
      ref={scroller}
      className="timeline-scroll"
      style={{ height: Math.max(180, height + rulerPx + 8) }}
      role="application"
      aria-label="Timeline. W and S zoom, A and D move, F fits, M marks the selected span as the window."
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys.
      tabIndex={0}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: Math.max(height + rulerPx, size.height) }}>
        <canvas
          ref={canvas}
          className="timeline-canvas"
          style={{ width: size.width, height: size.height }}
          onPointerDown={(event) => {
            drag.current = { x: event.clientX, view: props.view, moved: false };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={onPointerMove}
          onPointerUp={(event) => {
            if (drag.current?.moved === false) props.onSelect(pick(event));
            drag.current = null;
          }}
          onPointerLeave={() => {
            setCursor(null);
            setHovered(null);
            props.onHover(null);
          }}
          onDoubleClick={(event) => props.onFit(pick(event))}
        />
      </div>
    </div>
  );
}

function paint(canvas: HTMLCanvasElement | null, scene: Omit<Scene, "cursor">): void {
  const ctx = canvas?.getContext("2d", { alpha: false });
  if (canvas === null || ctx === null || ctx === undefined) return;
  const px = devicePixelRatio;
  const width = Math.round(scene.width * px);
  const height = Math.round(scene.height * px);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  ctx.setTransform(px, 0, 0, px, 0, 0);
  drawTimeline(ctx, { ...scene, cursor: getCursor()?.t ?? null });
}
