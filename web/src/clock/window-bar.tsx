// The window bar: the whole run, the shared window in it, and the words for it. Drag to set, drag the window to move
// it, its edges to stretch it, double-click or Esc to clear. Arrow keys move it.

import { type PointerEvent, useRef, useState } from "react";
import { IconButton } from "../part/button.tsx";
import { follow } from "../part/follow.ts";
import { formatDuration, formatElapsed } from "../text/format-time.ts";
import { useCursor } from "./cursor.ts";
import { useRunClock } from "./run-clock.tsx";
import { stepsWithin } from "./step-clock.ts";
import { useSteps } from "./use-steps.ts";
import { clampWindow, panWindow, type TimeWindow } from "./window.ts";

type Grip = "new" | "move" | "from" | "to";
interface Drag {
  readonly grip: Grip;
  readonly at: number;
  readonly before: TimeWindow;
}

export function WindowBar() {
  const clock = useRunClock();
  const track = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState<TimeWindow | null>(null);
  const cursor = useCursor();
  const { limits } = clock;
  const length = limits.to - limits.from;
  const shown = draft ?? clock.window;
  const percent = (t: number) => `${Math.max(0, Math.min(100, ((t - limits.from) / length) * 100))}%`;
  const timeAt = (event: { readonly clientX: number }) => {
    const box = track.current?.getBoundingClientRect();
    return box === undefined ? 0 : limits.from + ((event.clientX - box.left) / box.width) * length;
  };
  const onDown = (event: PointerEvent<HTMLElement>) => {
    const at = timeAt(event);
    const grip = ((event.target as HTMLElement).dataset["grip"] as Grip | undefined) ?? "new";
    const drag = { grip, at, before: clock.window ?? { from: at, to: at } };
    const move = (moved: { readonly clientX: number }) => {
      const next = dragged(drag, timeAt(moved), limits);
      setDraft(next);
      return next;
    };
    follow(event, move, (next) => {
      if (next !== undefined && next.to - next.from > length / 500) clock.setWindow(next);
      setDraft(null);
    });
  };
  const nudge = (by: number) => {
    if (clock.window === null) return;
    clock.setWindow(clampWindow(panWindow(clock.window, (clock.window.to - clock.window.from) * by), limits));
  };
  return (
    <div className="row small window-bar no-print">
      <span className="muted">{formatElapsed(limits.from, 1e9)}</span>
      <div
        ref={track}
        className="window-track"
        role="slider"
        tabIndex={0}
        aria-label="Shared time window"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={shown === null ? 0 : Math.round(((shown.from - limits.from) / length) * 100)}
        aria-valuetext={
          shown === null ? "the whole run" : `${formatDuration(shown.from)} to ${formatDuration(shown.to)}`
        }
        onPointerDown={onDown}
        onDoubleClick={() => clock.setWindow(null)}
        onKeyDown={(event) => {
          if (event.key === "ArrowLeft") nudge(-0.25);
          if (event.key === "ArrowRight") nudge(0.25);
        }}
      >
        {shown === null ? null : (
          <div
            className="window-range"
            data-grip="move"
            style={{ left: percent(shown.from), width: `calc(${percent(shown.to)} - ${percent(shown.from)})` }}
          >
            <i data-grip="from" />
            <i data-grip="to" />
          </div>
        )}
        {cursor === null ? null : <div className="window-cursor" style={{ left: percent(cursor.t) }} />}
      </div>
      <span className="muted">{formatElapsed(limits.to, length / 100)}</span>
      <WindowWords window={shown} />
      <IconButton
        icon="cross"
        label="Clear the window"
        title="clear (Esc)"
        disabled={clock.window === null}
        onClick={() => clock.setWindow(null)}
      />
    </div>
  );
}

function WindowWords({ window }: { readonly window: TimeWindow | null }) {
  return window === null ? <span className="window-words whole">whole run</span> : <StepsWithin window={window} />;
}

function StepsWithin({ window }: { readonly window: TimeWindow }) {
  const steps = useSteps();
  const length = window.to - window.from;
  const held = steps === null ? null : stepsWithin(steps, window);
  return (
    <span className="window-words">
      {formatElapsed(window.from, length / 50)} – {formatElapsed(window.to, length / 50)} ({formatDuration(length)})
      {held === null ? "" : held[0] === held[1] ? `, step ${held[0]}` : `, steps ${held[0]}–${held[1]}`}
    </span>
  );
}

function dragged(drag: Drag, at: number, limits: TimeWindow): TimeWindow {
  const within = Math.max(limits.from, Math.min(limits.to, at));
  switch (drag.grip) {
    case "move":
      return clampWindow(panWindow(drag.before, at - drag.at), limits);
    case "from":
      return ordered(within, drag.before.to);
    case "to":
      return ordered(drag.before.from, within);
    case "new":
      return ordered(Math.max(limits.from, drag.at), within);
  }
}

function ordered(a: number, b: number): TimeWindow {
  return { from: Math.min(a, b), to: Math.max(a, b) };
}
