// The flame chart: draws a scene when something changed, and turns pointer and wheel into moves of the view.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { inksOf, useTheme } from "../../app/theme.ts";
import { getCursor, onCursor } from "../../clock/cursor.ts";
import type { TimeWindow } from "../../clock/window.ts";
import { useSize } from "../../part/on-screen.ts";
import { useChartEvents } from "../charts/use-chart-events.ts";
import type { Area } from "./area-panel.tsx";
import type { Boxes } from "./boxes.ts";
import { drawTimeline, gutterPx, rulerPx, type Scene } from "./draw.ts";
import { placeLanes } from "./lanes.ts";
import { usePointer } from "./use-pointer.ts";
import { useWheel } from "./use-view.ts";

export interface PickedBox {
  readonly boxes: Boxes;
  readonly box: number;
}

export interface CanvasProps {
  readonly layers: readonly Boxes[];
  readonly view: TimeWindow;
  readonly colours: ReadonlyMap<string, string>;
  readonly wanted: ((name: string) => boolean) | null;
  readonly selectedId: string;
  readonly area: Area | null;
  readonly hovered: PickedBox | null;
  readonly onMove: (view: TimeWindow) => void;
  readonly onWidth: (px: number) => void;
  readonly onHover: (picked: PickedBox | null) => void;
  /** What was clicked, and the time that was clicked at. */
  readonly onSelect: (picked: PickedBox | null, t: number) => void;
  readonly onFit: (picked: PickedBox | null) => void;
  readonly onArea: (area: Area | null) => void;
  /** Told when lanes do not fit: then the wheel scrolls them, and zooms only with Ctrl. */
  readonly onOverflow: (overflows: boolean) => void;
}

export function TimelineCanvas(props: CanvasProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(scroller);
  const [scrollTop, setScrollTop] = useState(0);
  const lanes = props.layers[0]?.answer.lanes;
  const { placed, height } = useMemo(() => placeLanes(lanes ?? []), [lanes]);
  const overflows = height + rulerPx > size.height + 1;
  const { onOverflow, onWidth } = props;
  useEffect(() => onOverflow(overflows), [overflows, onOverflow]);
  useLayoutEffect(() => {
    if (size.width > 0) onWidth(Math.max(100, size.width - gutterPx));
  }, [size.width, onWidth]);
  const theme = useTheme();
  const events = useChartEvents();
  const { view, layers, colours, wanted, selectedId, area, hovered } = props;
  const scene = useMemo<Omit<Scene, "cursor" | "moment">>(
    () => ({
      ...{ ...size, scrollTop, view, layers, placed, colours, wanted, selectedId, area, hovered, events },
      inks: inksOf(theme),
    }),
    [size, scrollTop, view, layers, placed, colours, wanted, selectedId, area, hovered, events, theme],
  );
  useLayoutEffect(() => paint(canvas.current, scene), [scene]);
  useEffect(() => onCursor(() => paint(canvas.current, scene)), [scene]);
  useWheel(canvas, { view, width: size.width, overflows, onMove: props.onMove });
  const pointer = usePointer({ canvas, scroller, size, scrollTop, placed, props });
  return (
    <div
      ref={scroller}
      className="timeline-scroll grow"
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
          {...pointer}
        />
      </div>
    </div>
  );
}

function paint(canvas: HTMLCanvasElement | null, scene: Omit<Scene, "cursor" | "moment">): void {
  const ctx = canvas?.getContext("2d", { alpha: false });
  if (canvas === null || ctx === null || ctx === undefined || scene.width === 0) return;
  const px = devicePixelRatio;
  const width = Math.round(scene.width * px);
  const height = Math.round(scene.height * px);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  ctx.setTransform(px, 0, 0, px, 0, 0);
  const cursor = getCursor();
  drawTimeline(ctx, { ...scene, cursor: cursor?.t ?? null, moment: cursor?.moment ?? null });
}
