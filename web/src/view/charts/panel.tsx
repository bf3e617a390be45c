// One metric: title with the value under the cursor, the plot, and small actions.

import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { Axis } from "#api/contract/series.ts";
import { inksOf, useTheme } from "../../app/theme.ts";
import { assignColour, type Theme } from "../../chart/colour.ts";
import { type MetricPanel, panelId, panelTitle } from "../../chart/metric-groups.ts";
import { Plot } from "../../chart/plot.tsx";
import { isTimed } from "../../chart/plot-cursor.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import type { PlotEvent } from "../../chart/plot-draw.ts";
import { outsideOf, type PlotChoices, toTsv } from "../../chart/plot-model.ts";
import { useRunClock } from "../../clock/run-clock.tsx";
import { CopyButton, IconButton } from "../../part/button.tsx";
import { Name } from "../../part/name.tsx";
import { Problem } from "../../part/notice.tsx";
import { saveFile } from "../../part/save-file.ts";
import { toMs } from "../../text/format-time.ts";
import { DataTable } from "./data-table.tsx";
import { describeSeries, eventText, lastText, readText } from "./panel-text.ts";
import { type LivePoints, usePanelSeries } from "./use-panel-series.ts";

export interface PanelProps {
  readonly panel: MetricPanel;
  readonly axis: Axis;
  readonly choices: PlotChoices;
  readonly byWorker: boolean;
  readonly events: readonly PlotEvent[];
  readonly live: LivePoints;
  readonly height: number;
  readonly expanded?: boolean;
  /** What else can be done with it where it stands. */
  readonly tools?: ReactNode;
}

export function ChartPanel(props: PanelProps) {
  const { panel, expanded = false } = props;
  const clock = useRunClock();
  const theme = useTheme();
  const host = useRef<HTMLElement>(null);
  useEffect(() => {
    if (expanded) host.current?.scrollIntoView({ block: "nearest" });
  }, [expanded]);
  const { series, answer, axis, isOverTime, isAsked } = useSteplessSeries(props);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [table, setTable] = useState(false);
  const names = series.map((each) => each.worker ?? "");
  const colours = usePanelColours(panel.key, names, theme);
  const readout = useRef<HTMLSpanElement>(null);
  const name = panelTitle(panel);
  const plot = {
    id: `${panel.key}\n${panel.phase}`,
    of: panelId(panel),
    series,
    axis,
    colours,
    theme,
    hidden,
    onPin: clock.pinCursor,
    onBrush: clock.brush,
    window: clock.window,
    xRange: clock.window !== null && isTimed(axis) ? ([clock.window.from, clock.window.to] as const) : null,
  };
  return (
    <section ref={host} className={`panel chart-panel ${expanded ? "expanded" : ""}`} aria-label={name}>
      <PanelHead
        {...props}
        isOverTime={isOverTime}
        name={name}
        series={series}
        table={table}
        onTable={() => setTable(!table)}
        onSave={() => savePng(host.current, name, theme)}
        problem={answer.error}
        readout={readout}
      />
      {answer.error !== null && series.length === 0 ? (
        <Problem error={answer.error} retry={() => void answer.refetch()} />
      ) : series.length === 0 && isAsked ? (
        <output className="skeleton chart-loading" aria-label="Loading" style={{ height: props.height }} />
      ) : series.length === 0 ? (
        <p className="muted chart-none" style={{ height: props.height }}>
          {clock.window === null ? "no points" : "no points in this window"}
        </p>
      ) : table ? (
        <DataTable series={series} axis={axis} name={name} height={props.height} />
      ) : (
        <Plot
          {...plot}
          choices={props.choices}
          height={props.height}
          startMs={toMs(clock.startNs)}
          label={`${name}: ${describeSeries(series, axis)}`}
          events={props.events}
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

/** Points that were sent without steps are still worth seeing: over time. */
function useSteplessSeries(props: PanelProps) {
  const clock = useRunClock();
  const [stepless, setStepless] = useState(props.panel.info.first_step === null);
  const isOverTime = stepless && !isTimed(props.axis);
  const { series, answer, axis } = usePanelSeries(
    {
      key: props.panel.key,
      phase: props.panel.phase,
      axis: isOverTime ? "relative" : props.axis,
      byWorker: props.byWorker,
      buckets: props.expanded === true ? 2000 : 600,
    },
    props.live,
  );
  const empty = answer.data !== undefined && !answer.isPlaceholderData && series.length === 0;
  useEffect(() => {
    if (empty && clock.window === null) setStepless(true);
  }, [empty, clock.window]);
  const isNext = empty && clock.window === null && !isTimed(props.axis) && !isOverTime;
  return { series, answer, axis, isOverTime, isAsked: answer.data === undefined || answer.isPlaceholderData || isNext };
}

function usePanelColours(key: string, names: readonly string[], theme: Theme): readonly string[] {
  const namesKey = names.join("\n");
  return useMemo(() => {
    const workers = namesKey.split("\n");
    const places = new Map<string, number>();
    return (workers.length === 1 ? [key] : workers).map((name) => assignColour(places, name, theme));
  }, [namesKey, key, theme]);
}

interface LegendProps {
  readonly names: readonly string[];
  readonly colours: readonly string[];
  readonly hidden: ReadonlySet<number>;
  readonly onChange: (hidden: ReadonlySet<number>) => void;
}

/** Click isolates one line; click again shows all. */
function Legend({ names, colours, hidden, onChange }: LegendProps) {
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
          className={`small muted ${hidden.has(i) ? "faded" : ""}`}
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

interface PanelHeadProps extends PanelProps {
  readonly name: string;
  readonly series: readonly PlotSeries[];
  /** The points were sent without a position on the axis that was asked for. */
  readonly isOverTime: boolean;
  readonly table: boolean;
  readonly onTable: () => void;
  readonly onSave: () => void;
  /** Why the newest answer did not come; what is drawn is then older. */
  readonly problem: Error | null;
  readonly readout: RefObject<HTMLSpanElement | null>;
}

/** The title row of a panel: its name, what the axis does not show, small actions, and the value under the cursor. */
function PanelHead(props: PanelHeadProps) {
  const { panel, series, choices, problem } = props;
  const outside = useMemo(() => outsideOf(series, choices), [series, choices]);
  return (
    <header className="row chart-head">
      <h3 title={props.name} aria-label={props.name}>
        <Name>{panel.label}</Name>
      </h3>
      {!props.isOverTime || series.length === 0 ? null : (
        <span className="muted" title={`these points were sent without ${props.axis}`}>
          over time
        </span>
      )}
      {outside === "" ? null : (
        <span className="status-warn" title="values outside the axis">
          {outside}
        </span>
      )}
      {problem === null || series.length === 0 ? null : (
        <span className="status-warn" title={problem.message}>
          not up to date
        </span>
      )}
      <span className="chart-tools no-print">
        <CopyButton text={() => toTsv(series)} label="copy the data" />
        <IconButton icon="runs" label={`${props.name} as a table`} aria-pressed={props.table} onClick={props.onTable} />
        <IconButton icon="image" label={`Save ${props.name} as an image`} onClick={props.onSave} />
        {props.tools}
      </span>
      <span className="grow" />
      <span ref={props.readout} className="readout" aria-live="off">
        {lastText(series, panel)}
      </span>
    </header>
  );
}

/** A panel's plot as an image file, on the paper it is drawn on and with its title. */
function savePng(host: HTMLElement | null, name: string, theme: Theme): void {
  const source = host?.querySelector("canvas");
  if (source === null || source === undefined) return;
  const headPx = 28 * devicePixelRatio;
  const image = document.createElement("canvas");
  image.width = source.width;
  image.height = source.height + headPx;
  const ctx = image.getContext("2d");
  if (ctx === null) return;
  ctx.fillStyle = inksOf(theme).paper;
  ctx.fillRect(0, 0, image.width, image.height);
  ctx.fillStyle = inksOf(theme).ink;
  ctx.font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.fillText(name, 8 * devicePixelRatio, 18 * devicePixelRatio);
  ctx.drawImage(source, 0, headPx);
  image.toBlob((blob) => {
    if (blob !== null) saveFile(blob, `${name.replace(/[^\w.-]+/g, "_")}.png`);
  });
}
