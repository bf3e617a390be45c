// One metric: title with the value under the cursor, the plot, and small actions.

import { useEffect, useMemo, useRef, useState } from "react";
import type { Axis } from "#api/contract/series.ts";
import { useTheme } from "../../app/theme.ts";
import { assignColours } from "../../chart/colour.ts";
import type { LiveTail } from "../../chart/live-tail.ts";
import type { MetricPanel } from "../../chart/metric-groups.ts";
import { Plot } from "../../chart/plot.tsx";
import type { PlotSeries } from "../../chart/plot-data.ts";
import type { PlotEvent } from "../../chart/plot-draw.ts";
import { type PlotChoices, toPlotModel, toTsv } from "../../chart/plot-model.ts";
import { getCursor } from "../../clock/cursor.ts";
import { type RunClock, useRunClock } from "../../clock/run-clock.tsx";
import { CopyButton } from "../../part/copy.tsx";
import { Icon } from "../../part/icon.tsx";
import { Problem } from "../../part/notice.tsx";
import { useSeen } from "../../part/use-seen.ts";
import { formatFloat, formatNumber } from "../../text/format-number.ts";
import { toMs } from "../../text/format-time.ts";
import { savePng } from "./save-png.ts";
import { usePanelSeries } from "./use-panel-series.ts";

export interface PanelProps {
  readonly panel: MetricPanel;
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly byWorker: boolean;
  readonly events: readonly PlotEvent[];
  readonly tail: LiveTail;
  readonly version: number;
  readonly height: number;
  readonly expanded: boolean;
  /** Absent where a panel cannot grow. */
  readonly onExpand?: () => void;
  /** Ask for the series now, not when the panel comes near the screen. */
  readonly eager?: boolean;
}

export function Panel(props: PanelProps) {
  const { panel, expanded } = props;
  const clock = useRunClock();
  const theme = useTheme();
  const host = useRef<HTMLElement>(null);
  const seen = useSeen(host);
  useEffect(() => {
    if (expanded) host.current?.scrollIntoView({ block: "nearest" });
  }, [expanded]);
  // Points that were sent without steps are still worth seeing: over time.
  const [stepless, setStepless] = useState(false);
  const axis = stepless && (props.axis === "step" || props.axis === "epoch") ? "relative" : props.axis;
  const { series, answer } = usePanelSeries(
    {
      key: panel.key,
      phase: panel.phase,
      axis,
      byWorker: props.byWorker,
      buckets: props.expanded ? 2000 : 600,
      enabled: seen || props.eager === true,
    },
    props.tail,
    props.version,
  );
  const empty = answer.data !== undefined && !answer.isPlaceholderData && series.length === 0;
  useEffect(() => {
    if (empty && clock.window === null) setStepless(true);
  }, [empty, clock.window]);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const names = series.map((each) => each.worker ?? "");
  const namesKey = names.join("\n");
  const colours = useMemo(() => {
    const workers = namesKey.split("\n");
    if (workers.length === 1) return [...assignColours([panel.key], theme).values()];
    const assigned = assignColours(workers, theme);
    return workers.map((worker) => assigned.get(worker) ?? "");
  }, [namesKey, panel.key, theme]);
  const outside = useMemo(() => toPlotModel(series, props.choices).outside, [series, props.choices]);
  const readout = useRef<HTMLSpanElement>(null);
  const xRange =
    clock.window !== null && (axis === "relative" || axis === "time")
      ? ([clock.window.from, clock.window.to] as const)
      : null;
  const name =
    panel.phase === "" || panel.key.startsWith(`${panel.phase}/`) ? panel.key : `${panel.phase} · ${panel.key}`;
  return (
    <section ref={host} className={`panel chart-panel ${props.expanded ? "expanded" : ""}`} aria-label={name}>
      <header className="chart-head">
        <h3 className="clip" title={name}>
          {panel.label}
        </h3>
        {axis === props.axis || series.length === 0 ? null : (
          <span className="muted" title={`these points were sent without ${props.axis}`}>
            over time
          </span>
        )}
        {outside === "" ? null : (
          <span className="status-warn" title="values outside the axis">
            {outside}
          </span>
        )}
        <span className="chart-tools no-print">
          <CopyButton text={() => toTsv(series)} label="copy the data" />
          <button
            type="button"
            className="button quiet small icon"
            aria-label={`Save ${name} as an image`}
            title="PNG"
            onClick={() => savePng(host.current, name, theme)}
          >
            <Icon name="image" size={14} />
          </button>
          {props.onExpand === undefined ? null : (
            <button
              type="button"
              className="button quiet small icon"
              aria-label={props.expanded ? `Shrink ${name}` : `Expand ${name}`}
              aria-pressed={props.expanded}
              onClick={props.onExpand}
            >
              <Icon name="expand" size={14} />
            </button>
          )}
        </span>
        <span className="grow" />
        <span ref={readout} className="readout" aria-live="off">
          {lastValue(series, panel)}
        </span>
      </header>
      {answer.error !== null && series.length === 0 ? (
        <Problem error={answer.error} />
      ) : answer.data === undefined ? (
        <div style={{ height: props.height }} />
      ) : series.length === 0 ? (
        <p className="muted chart-none" style={{ height: props.height }}>
          {clock.window === null ? "no points" : "no points in this window"}
        </p>
      ) : (
        <Plot
          id={`${panel.key}\n${panel.phase}`}
          series={series}
          axis={axis}
          choices={props.choices}
          colours={colours}
          theme={theme}
          height={props.height}
          startMs={toMs(clock.startNs)}
          label={`${name}: ${describe(series)}`}
          hidden={hidden}
          events={props.events}
          xRange={xRange}
          window={clock.window}
          onBrush={clock.brush}
          onRead={(rows) => {
            if (readout.current !== null)
              readout.current.textContent = readText(series, rows, panel) + eventText(props.events, clock);
          }}
        />
      )}
      {names.length > 1 ? <Legend names={names} colours={colours} hidden={hidden} onChange={setHidden} /> : null}
    </section>
  );
}

/** Click isolates one line; click again shows all. */
function Legend({
  names,
  colours,
  hidden,
  onChange,
}: {
  readonly names: readonly string[];
  readonly colours: readonly string[];
  readonly hidden: ReadonlySet<number>;
  readonly onChange: (hidden: ReadonlySet<number>) => void;
}) {
  const isolate = (at: number) => {
    const alone = hidden.size === names.length - 1 && !hidden.has(at);
    onChange(alone ? new Set() : new Set(names.map((_, i) => i).filter((i) => i !== at)));
  };
  return (
    <div className="legend">
      {names.map((name, i) => (
        <button
          key={name}
          type="button"
          className={hidden.has(i) ? "faded" : ""}
          aria-pressed={!hidden.has(i)}
          onClick={() => isolate(i)}
        >
          <i style={{ background: colours[i] }} />
          {name === "" ? "no worker" : name}
        </button>
      ))}
    </div>
  );
}

function lastValue(series: readonly PlotSeries[], panel: MetricPanel): string {
  const last = series.length === 1 ? series[0]?.last.at(-1) : undefined;
  return last === undefined || last === null ? formatFloat(panel.info.last) : formatNumber(last);
}

function readText(series: readonly PlotSeries[], rows: readonly (number | null)[] | null, panel: MetricPanel): string {
  if (rows === null) return lastValue(series, panel);
  const texts = rows.map((row, i) => valueText(series[i], row));
  return texts.length > 3 ? `${texts.slice(0, 3).join("  ")}  +${texts.length - 3}` : texts.join("  ");
}

/** The command or checkpoint under the cursor. */
function eventText(events: readonly PlotEvent[], clock: RunClock): string {
  const cursor = getCursor();
  const { from, to } = clock.window ?? clock.limits;
  const near = cursor === null ? [] : events.filter((event) => Math.abs(event.t - cursor.t) < (to - from) / 120);
  return near.length === 0 ? "" : `  ▾ ${near.map((event) => event.label).join(", ")}`;
}

function valueText(series: PlotSeries | undefined, row: number | null): string {
  if (series === undefined || row === null) return "–";
  if ((series.nan[row] ?? 0) > 0) return `NaN ×${series.nan[row]}`;
  const last = series.last[row];
  const text = last === null || last === undefined ? "–" : formatNumber(last);
  const count = series.count[row] ?? 1;
  return count > 1 ? `${text} (${formatFloat(series.min[row])}…${formatFloat(series.max[row])})` : text;
}

function describe(series: readonly PlotSeries[]): string {
  const points = series.reduce((sum, each) => sum + each.points, 0);
  const nan = series.reduce((sum, each) => sum + each.nan.reduce((a, b) => a + b, 0), 0);
  return `${points} points${nan > 0 ? `, ${nan} NaN` : ""}`;
}
