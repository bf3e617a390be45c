// The part of the run on screen. It moves with every frame of a pan or zoom, and becomes the shared window when it
// rests, so that the other panels and the URL follow without being asked sixty times a second.

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import { clampWindow, panWindow, type TimeWindow, wheelZoom } from "../../clock/window.ts";
import { gutterPx } from "./draw.ts";

const restMs = 180;

export function useTimelineView(extent: TimeWindow): [TimeWindow, (next: TimeWindow) => void] {
  const clock = useRunClock();
  const [view, setView] = useState<TimeWindow>(() => clock.window ?? extent);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const moving = useRef(false);
  const { window: shared, setWindow } = clock;
  useEffect(() => {
    if (!moving.current) setView(shared === null ? extent : shared);
  }, [shared, extent]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = useCallback(
    (next: TimeWindow) => {
      const clamped = clampWindow(next, extent);
      moving.current = true;
      setView(clamped);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        moving.current = false;
        const all = clamped.to - clamped.from >= (extent.to - extent.from) * 0.999;
        setWindow(all ? null : clamped);
      }, restMs);
    },
    [extent, setWindow],
  );
  return [view, move];
}

interface WheelMoves {
  readonly view: TimeWindow;
  readonly width: number;
  readonly overflows: boolean;
  readonly onMove: (view: TimeWindow) => void;
}

/**
 * The wheel over the lanes: it zooms at the pointer, or, where there are more lanes than fit, scrolls them and zooms with
 * Ctrl; sideways, or with Shift, it moves in time.
 */
export function useWheel(canvas: RefObject<HTMLCanvasElement | null>, moves: WheelMoves): void {
  const latest = useRef(moves);
  latest.current = moves;
  // React's wheel listener is passive and could not keep the page from scrolling.
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const onWheel = (event: WheelEvent) => {
      const { view, width, overflows, onMove } = latest.current;
      const isZoom = event.ctrlKey || event.metaKey;
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      // What is left alone scrolls the lanes.
      if (event.offsetX < gutterPx || (overflows && !isZoom && !isSideways)) return;
      event.preventDefault();
      const length = view.to - view.from;
      if (isSideways) {
        const by = event.deltaX === 0 ? event.deltaY : event.deltaX;
        onMove(panWindow(view, (by / (width - gutterPx)) * length));
      } else {
        const at = view.from + ((event.offsetX - gutterPx) / (width - gutterPx)) * length;
        onMove(wheelZoom(view, at, event.deltaY));
      }
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [canvas]);
}
