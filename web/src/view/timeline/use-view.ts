// The part of the run on screen. It moves with every frame of a pan or zoom, and becomes the shared window when it
// rests, so that the other panels and the URL follow without being asked sixty times a second.

import { useCallback, useEffect, useRef, useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import { clampWindow, type TimeWindow } from "../../clock/window.ts";

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
