// One line of the log. Pointing at it moves the shared cursor, a click pins its moment, and its time is where a window is
// dragged from.

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { LogRow } from "#api/contract/record.ts";
import { setCursor, useCursor } from "../../clock/cursor.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { Button } from "../../part/button.tsx";
import { formatBytes } from "../../text/format-number.ts";
import { formatElapsed, formatTime, toMs, toOffsetNs } from "../../text/format-time.ts";
import { toPieces } from "./log-text.ts";
import { readWholeMessage } from "./save-log.ts";
import type { Gutter } from "./use-gutter.ts";

const nearNs = 5e7;

interface LogLineProps {
  readonly row: LogRow;
  readonly startNs: string;
  readonly gutter: Gutter;
  readonly search: string;
  /** Some line has a step, so that all keep its place free. */
  readonly stepped: boolean;
  /** Pins a moment without moving the lines. */
  readonly onPin: (t: number) => void;
}

export function LogLine({ row, startNs, gutter, search, stepped, onPin }: LogLineProps) {
  const { setWindow, pin } = useRunClock();
  const t = toOffsetNs(row.ts_ns, startNs);
  const cursor = useCursor();
  const isPinned = pin !== null && t > pin.from && t <= pin.to;
  const near = pin === null && cursor !== null && cursor.from !== "logs" && Math.abs(cursor.t - t) < nearNs;
  const brushed = gutter.brush !== null && t >= gutter.brush.from && t < gutter.brush.to;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: its time is a button that does the same.
    <div
      className={`mono log-line ${near ? "near" : ""} ${brushed ? "brushed" : ""} ${isPinned ? "pinned" : ""}`}
      onPointerEnter={() => {
        setCursor({ t, from: "logs" });
        gutter.over(t);
      }}
      onPointerLeave={() => setCursor(null)}
      onClick={(event) => {
        const isOnText = (event.target as Element).closest("button") === null;
        // Somebody who selects text to copy it wants nothing else.
        if (isOnText && getSelection()?.isCollapsed !== false) onPin(t);
      }}
    >
      <button
        type="button"
        className="log-time"
        title={`${formatTime(toMs(row.ts_ns))}; click to pin it, with Shift for the second around it, drag for the lines between`}
        onPointerDown={(event) => {
          // A touch holds its first element; the lines it passes over must hear of it too.
          event.currentTarget.releasePointerCapture(event.pointerId);
          gutter.down(t);
        }}
        onClick={(event) => (event.shiftKey ? setWindow({ from: t - 5e8, to: t + 5e8 }) : onPin(t))}
      >
        {formatElapsed(t, 1e6)}
      </button>
      <span className={`log-level level-${row.level}`}>{row.level === "" ? row.stream : row.level}</span>
      {row.worker === "" ? null : <span className="muted clip log-worker">{row.worker}</span>}
      {stepped ? <span className="muted log-step">{row.step === null ? "" : `step ${row.step}`}</span> : null}
      <span className="log-msg">
        {row.logger === "" ? null : <span className="muted">{row.logger}: </span>}
        <LogMessage row={row} search={search} />
        {row.fields === "" ? null : <span className="muted"> {row.fields}</span>}
      </span>
    </div>
  );
}

/** Nobody reads more of a line than fills the screen; the rest waits until it is asked for. */
export const messageChars = 2_000;

/**
 * The message of a line: coloured as it was printed, with what was searched for marked, and cut when it is very long.
 */
function LogMessage({ row, search }: { readonly row: LogRow; readonly search: string }) {
  const [open, setOpen] = useState(false);
  const whole = useWholeMessage(row, open);
  const isCut = row.cut_from !== undefined || row.msg.length > messageChars;
  const text = open && whole.data !== undefined ? whole.data : row.msg.slice(0, messageChars);
  const pieces = useMemo(() => toPieces(text, search), [text, search]);
  return (
    <>
      {pieces.map((piece) =>
        piece.hit ? (
          <mark key={piece.at} className={piece.style}>
            {piece.text}
          </mark>
        ) : (
          <span key={piece.at} className={piece.style}>
            {piece.text}
          </span>
        ),
      )}
      {isCut ? (
        <Button look="small log-cut" onClick={() => setOpen(!open)} aria-expanded={open}>
          {open
            ? whole.error !== null
              ? "it did not come; try again"
              : whole.data === undefined
                ? "loading"
                : "show less"
            : `show all, ${formatBytes(row.cut_from ?? row.msg.length)}`}
        </Button>
      ) : null}
    </>
  );
}

/** The line as it was sent. */
function useWholeMessage(row: LogRow, wanted: boolean) {
  const { run } = useRunClock();
  return useQuery({
    queryKey: ["whole-line", run.id, row.id],
    enabled: wanted,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => readWholeMessage(run.id, row, signal),
  });
}
