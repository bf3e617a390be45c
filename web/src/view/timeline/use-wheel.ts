// The wheel over the lanes: it zooms at the pointer, or, where there are more lanes than fit, scrolls them and zooms
// with Ctrl; sideways, or with Shift, it moves in time.

import { type RefObject, useEffect, useRef } from "react";
import { panWindow, type TimeWindow, wheelZoom } from "../../clock/window.ts";
import { gutterPx } from "./draw.ts";

export interface WheelMoves {
  readonly view: TimeWindow;
  readonly width: number;
  readonly overflows: boolean;
  readonly onMove: (view: TimeWindow) => void;
}

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
