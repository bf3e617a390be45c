// The moment under the cursor, whatever panel it is in: its steps and the extremes of the metric pointed at, the spans
// that ran, the tensors taken next, the lines logged. Pinned, it stays; else it follows the pointer.

import { useState } from "react";
import { usePreference } from "../app/preference.ts";
import { useSettled } from "../data/use-settled.ts";
import { IconButton } from "../part/button.tsx";
import { formatElapsed } from "../text/format-time.ts";
import { type Cursor, useCursor } from "./cursor.ts";
import { MomentExtremes, MomentGo, MomentLogs, MomentSpans, MomentSteps, useMomentMetric } from "./moment-parts.tsx";
import { type RunClock, useRunClock } from "./run-clock.tsx";
import { stepAt } from "./step-clock.ts";
import { useSteps } from "./use-steps.ts";
import { isInstant, type TimeWindow } from "./window.ts";

const restMs = 120;

export function MomentStrip() {
  const clock = useRunClock();
  const [shown, setShown] = usePreference<"on" | "off">("moment", "on", ["on", "off"]);
  const cursor = useCursor();
  // The last moment stays when the pointer leaves, so that it can be read and followed.
  const [last, setLast] = useState<Cursor | null>(null);
  if (cursor !== null && cursor !== last) setLast(cursor);
  if (shown === "off") {
    return (
      <button type="button" className="moment-off no-print" onClick={() => setShown("on")}>
        show the moment under the cursor
      </button>
    );
  }
  const at = cursor ?? last;
  const state = clock.pin !== null ? "pinned" : cursor === null ? "past" : "";
  return (
    <section className={`moment small no-print ${state}`} aria-label="The moment under the cursor">
      {at === null ? (
        <p className="muted">
          Point at a chart, a span, a histogram or a line: its step, spans and logs appear here. Click to pin the
          moment.
        </p>
      ) : (
        <MomentOf cursor={at} />
      )}
      <IconButton icon="down" label="Hide the moment under the cursor" title="hide" onClick={() => setShown("off")} />
    </section>
  );
}

function MomentOf({ cursor }: { readonly cursor: Cursor }) {
  const clock = useRunClock();
  const steps = useSteps();
  // What was pinned between points is an instant; it is shown as the pointer there would show it.
  const named = cursor.moment;
  const moment = named === undefined || isInstant(named) ? around(cursor.t, clock, steps) : named;
  // Asked only when the pointer rests: spans, lines and points of the step.
  const settled = useSettled({ moment: { from: moment.from, to: moment.to }, of: cursor.of ?? "" }, restMs);
  const metric = useMomentMetric(settled.moment, settled.of);
  return (
    <>
      <dl className="moment-when">
        <dt>at</dt>
        <dd>{formatElapsed(moment.to, 1e6)}</dd>
        <MomentSteps metric={metric} />
      </dl>
      <MomentExtremes metric={metric} />
      <MomentSpans moment={settled.moment} />
      <MomentLogs moment={settled.moment} />
      <MomentGo moment={settled.moment} of={settled.of} />
    </>
  );
}

/** The step a time falls in; without steps, the few pixels around it. */
function around(t: number, clock: RunClock, steps: ReturnType<typeof useSteps>): TimeWindow {
  const found = steps === null ? null : stepAt(steps, t);
  if (found !== null && !isInstant(found)) return found;
  const { from, to } = clock.window ?? clock.limits;
  return { from: t - (to - from) / 400, to: t + (to - from) / 400 };
}
