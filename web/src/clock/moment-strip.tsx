// The moment under the cursor, whatever panel it is in: its step and loss, the spans that ran, the lines logged.

import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { usePreference } from "../app/preference.ts";
import { useTheme } from "../app/theme.ts";
import { colourOf } from "../chart/colour.ts";
import type { PlotSeries } from "../chart/plot-data.ts";
import { useApi } from "../data/use-api.ts";
import { useSettled } from "../data/use-settled.ts";
import { Icon } from "../part/icon.tsx";
import { formatFloat, formatNumber } from "../text/format-number.ts";
import { formatDuration, formatElapsed } from "../text/format-time.ts";
import { useCursor } from "./cursor.ts";
import { useRunClock } from "./run-clock.tsx";
import { type Moment, stepAt } from "./step-clock.ts";
import { useSteps } from "./use-steps.ts";
import { formatWindow } from "./window.ts";

const restMs = 120;

export function MomentStrip() {
  const clock = useRunClock();
  const [shown, setShown] = usePreference<"on" | "off">("moment", "on", ["on", "off"]);
  const steps = useSteps();
  const cursor = useCursor();
  // The last moment stays when the pointer leaves, so that it can be read and followed.
  const [last, setLast] = useState<number | null>(null);
  if (cursor !== null && cursor.t !== last) setLast(cursor.t);
  const settled = useSettled(last, restMs);
  if (shown === "off") {
    return (
      <button type="button" className="moment-off no-print" onClick={() => setShown("on")}>
        show the moment under the cursor
      </button>
    );
  }
  const t = cursor?.t ?? last;
  const around = (at: number): Moment => {
    const { from, to } = clock.window ?? clock.limits;
    const found = steps === null ? null : stepAt(steps, at);
    return found ?? { row: -1, from: at - (to - from) / 400, to: at + (to - from) / 400 };
  };
  return (
    <section className={`moment no-print ${cursor === null ? "past" : ""}`} aria-label="The moment under the cursor">
      {t === null ? (
        <p className="muted">Point at a chart, a span, a histogram or a line: its step, spans and logs stand here.</p>
      ) : (
        <>
          <When t={t} moment={around(t)} steps={steps} />
          {settled === null ? null : <WhatRan moment={around(settled)} />}
        </>
      )}
      <button
        type="button"
        className="button quiet small icon"
        aria-label="Hide the moment under the cursor"
        title="hide"
        onClick={() => setShown("off")}
      >
        <Icon name="down" size={12} />
      </button>
    </section>
  );
}

function When({
  t,
  moment,
  steps,
}: {
  readonly t: number;
  readonly moment: Moment;
  readonly steps: PlotSeries | null;
}) {
  const step = steps?.x[moment.row];
  const before = steps?.x[moment.row - 1];
  const loss = steps?.last[moment.row];
  return (
    <dl className="moment-when">
      <dt>at</dt>
      <dd>{formatElapsed(t, 1e6)}</dd>
      {step === undefined || steps === null ? null : (
        <>
          <dt>step</dt>
          <dd>
            {before !== undefined && step - before > 1 ? `${formatNumber(before + 1)}–` : ""}
            {formatNumber(step)}
          </dd>
          <dt className="clip" title={steps.key}>
            {steps.key}
          </dt>
          <dd>{(steps.nan[moment.row] ?? 0) > 0 ? "NaN" : formatFloat(loss)}</dd>
        </>
      )}
    </dl>
  );
}

/** Asked only when the pointer rests: spans and lines of the step. */
function WhatRan({ moment }: { readonly moment: Moment }) {
  const { run, startNs, setWindow } = useRunClock();
  const theme = useTheme();
  const params = { id: run.id };
  const named = formatWindow(moment, startNs);
  const query = { from_ns: named.from, to_ns: named.to };
  const hasSpans = run.counts.spans + run.counts.nodes > 0;
  const spans = useApi("spanSummary", { params, query }, { enabled: hasSpans, keep: true, staleMs: 60_000 });
  const logs = useApi(
    "logs",
    { params, query: { ...query, limit: 3, order: "desc" } },
    { enabled: run.counts.logs > 0, keep: true, staleMs: 60_000 },
  );
  const rows = [...(spans.data?.rows ?? [])].sort((a, b) => Number(b.wall_ns) - Number(a.wall_ns));
  const lines = logs.data?.logs ?? [];
  const search = { from: named.from, to: named.to } as never;
  return (
    <>
      <div className="moment-spans">
        {!hasSpans ? <span className="muted">no spans in this run</span> : null}
        {spans.data !== undefined && rows.length === 0 ? <span className="muted">no span ran</span> : null}
        {rows.slice(0, 8).map((row) => (
          <span key={`${row.name} ${row.rank}`} className="chip" title={`${row.count} × ${row.name} in this step`}>
            <i className="swatch" style={{ background: colourOf(row.name, theme) }} />
            <span className="clip">{row.name}</span> {formatDuration(Number(row.wall_ns))}
          </span>
        ))}
      </div>
      <ol className="moment-logs">
        {logs.data !== undefined && lines.length === 0 ? <li className="muted">no line was logged</li> : null}
        {lines.toReversed().map((line) => (
          <li key={line.id} className="clip" title={line.msg}>
            <span className={`level-${line.level}`}>{line.level}</span> {line.msg}
          </li>
        ))}
      </ol>
      <span className="row moment-go">
        <button type="button" className="button quiet small" onClick={() => setWindow(moment)}>
          make it the window
        </button>
        {hasSpans ? (
          <Link to="/runs/$id/timeline" params={params} search={search}>
            timeline
          </Link>
        ) : null}
        {run.counts.logs > 0 ? (
          <Link to="/runs/$id/logs" params={params} search={search}>
            logs
          </Link>
        ) : null}
      </span>
    </>
  );
}
