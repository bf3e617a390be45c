// The times of a log as a place to brush: drag from one to another, and the window holds the lines between.

import { useCallback, useEffect, useRef, useState } from "react";
import { useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";

export interface Gutter {
  /** What is held by a drag that goes on. */
  readonly brush: TimeWindow | null;
  down(t: number): void;
  over(t: number): void;
}

export function useGutter(): Gutter {
  const { setWindow } = useRunClock();
  const held = useRef<{ start: number; brush: TimeWindow | null } | null>(null);
  const [brush, setBrush] = useState<TimeWindow | null>(null);
  useEffect(() => {
    const onUp = () => {
      const done = held.current?.brush ?? null;
      held.current = null;
      setBrush(null);
      if (done !== null) setWindow(done);
    };
    addEventListener("pointerup", onUp);
    return () => removeEventListener("pointerup", onUp);
  }, [setWindow]);
  const down = useCallback((t: number) => {
    held.current = { start: t, brush: null };
  }, []);
  const over = useCallback((t: number) => {
    if (held.current === null || t === held.current.start) return;
    const { start } = held.current;
    // The end is not part of a window; the last line is.
    held.current.brush = { from: Math.min(start, t), to: Math.max(start, t) + 1 };
    setBrush(held.current.brush);
  }, []);
  return { brush, down, over };
}
