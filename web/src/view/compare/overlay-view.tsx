// The same metric of all runs, or of groups of them, in one panel.

import { useEffect, useMemo, useRef, useState } from "react";
import type { CompareAnswer } from "#api/contract/compare.ts";
import type { SeriesColumn } from "#api/contract/series.ts";
import { useTheme } from "../../app/theme.ts";
import { useUrlChoice } from "../../app/url-choice.ts";
import { matchText, panelId, panelTitle } from "../../chart/metric-groups.ts";
import { throughExtremes } from "../../chart/outstanding.ts";
import { Plot } from "../../chart/plot.tsx";
import { drawnAxis, type PlotSeries, toPlotSeries, wireAxis } from "../../chart/plot-data.ts";
import { outsideOf, type PlotChoices } from "../../chart/plot-model.ts";
import { getCursor } from "../../clock/cursor.ts";
import { useApi } from "../../data/use-api.ts";
import { Name } from "../../part/name.tsx";
import { Empty, Loading, Problem } from "../../part/notice.tsx";
import { useSeen } from "../../part/on-screen.ts";
import { countOf, formatNumber } from "../../text/format-number.ts";
import { formatElapsed } from "../../text/format-time.ts";
import { groupSeries } from "./group-series.ts";
import { positionOf, readAt, setHover } from "./hover.ts";
import { colourOf, useCompare } from "./use-comparison.ts";
import "../charts/charts.css";
import { PlotControls, usePlotChoices } from "../charts/plot-choices.tsx";

type OverlayAxis = "step" | "epoch" | "relative";

const plotHeight = 230;
/** More lines than this with an envelope each are a smear. */
const bandsMax = 6;
/** What is drawn and read here; answers about a hundred runs are large. */
const columns: SeriesColumn[] = [
  "x",
  "x_last",
  "t",
  "count",
  "last",
  "min",
  "max",
  "mean",
  "nan",
  "pos_inf",
  "neg_inf",
];

interface OverlayPanelProps {
  readonly metric: CompareAnswer["metrics"][number];
  readonly axis: OverlayAxis;
  readonly choices: PlotChoices;
  /** Ids of runs that are not drawn. */
  readonly hidden: ReadonlySet<string>;
}

function OverlayPanel(props: OverlayPanelProps) {
  const { choices } = props;
  const { key, phase } = props.metric;
  const { look, onDrawn } = useCompare();
  const theme = useTheme();
  const host = useRef<HTMLElement>(null);
  const seen = useSeen(host);
  const { answer, series, axis, isOverTime, isAsked } = useOverlaySeries(props, seen);
  const lines = useMemo(() => series.map(({ run }) => colourOf(run, look) ?? "#888888"), [series, look]);
  const outside = useMemo(() => outsideOf(series, choices), [series, choices]);
  const title = panelTitle(props.metric);
  const id = `compare ${key} ${phase}`;
  useEffect(() => () => setHover(null), []);
  const isAnswered = answer.data !== undefined || answer.error !== null;
  useEffect(() => {
    if (isAnswered) onDrawn();
  }, [isAnswered, onDrawn]);
  return (
    <section ref={host} className="panel chart-panel" aria-label={`${key} ${phase}`}>
      <header className="row chart-head">
        <h2 className="grow" aria-label={title}>
          <Name>{title}</Name>
        </h2>
        {!isOverTime || series.length === 0 ? null : (
          <span className="muted" title={`these points were sent without ${props.axis}`}>
            over time
          </span>
        )}
        {outside === "" ? null : <span className="status-warn">{outside}</span>}
        <NonFinite series={series} />
        <Apart {...props} />
      </header>
      <Problem error={answer.error} />
      {answer.data === undefined || (series.length === 0 && isAsked) ? (
        <div style={{ height: plotHeight }}>{seen ? <Loading /> : null}</div>
      ) : series.length === 0 ? (
        <p className="muted chart-none" style={{ height: plotHeight }}>
          {answer.data.series.length === 0 ? "no points" : "all runs of it are hidden"}
        </p>
      ) : (
        <Plot
          id={id}
          series={series}
          axis={axis}
          choices={choices}
          colours={lines}
          theme={theme}
          height={plotHeight}
          startMs={0}
          label={`${`${key} ${phase}`.trim()} of ${countOf(series.length, look.groups === null ? "run" : "group")}`}
          onRead={() => {
            const cursor = getCursor();
            if (cursor === null) return setHover(null);
            // Every panel follows the shared cursor; the table shows the one that the pointer is in.
            if (cursor.from !== id) return;
            const at = positionOf(series, cursor.t);
            if (at !== null) setHover({ title, at: placeText(axis, at.x, at.to), rows: readAt(series, at.x) });
          }}
        />
      )}
    </section>
  );
}

function useOverlaySeries({ metric, hidden, ...props }: OverlayPanelProps, seen: boolean) {
  const { compare, look } = useCompare();
  const { key, phase, last } = metric;
  const { runs } = compare;
  const ids = runs.flatMap((run, i) => (last[i] === null ? [] : [run.id]));
  const [stepless, setStepless] = useState<string | null>(null);
  const asked = JSON.stringify([props.axis, ids]);
  const isOverTime = stepless === asked && props.axis !== "relative";
  const wanted = isOverTime ? "relative" : props.axis;
  const answer = useApi(
    "series",
    { body: { runs: ids, keys: [key], phase, axis: wireAxis(wanted), buckets: bucketsFor(runs.length), columns } },
    { enabled: seen && ids.length > 0, keep: true, staleMs: 30_000 },
  );
  const axis = drawnAxis(wanted, answer.data?.axis);
  // Points that were sent without steps are still worth seeing: over time.
  const empty = answer.data?.series.length === 0 && !answer.isPlaceholderData;
  useEffect(() => {
    if (empty) setStepless(asked);
  }, [empty, asked]);
  const all = useMemo(() => {
    const starts = new Map(runs.map((run) => [run.id, run.start_ns ?? "0"]));
    // Without a phase, those of every phase are answered.
    const own = answer.data?.series.filter((each) => each.phase === phase) ?? [];
    return own.map((each) => toPlotSeries(each, answer.data?.axis ?? "step", starts.get(each.run) ?? "0"));
  }, [answer.data, runs, phase]);
  const series = useMemo(() => {
    const shown = all.filter((each) => !hidden.has(each.run));
    if (look.groups === null) return shown.length > bandsMax ? shown.map(withoutEnvelope) : shown;
    return look.groups.flatMap(
      (group) =>
        groupSeries(
          group.text,
          shown.filter((each) => group.ids.includes(each.run)),
        ) ?? [],
    );
  }, [all, hidden, look.groups]);
  const isAsked = answer.isPlaceholderData || (empty && stepless !== asked);
  return { answer, series, axis, isOverTime, isAsked };
}

/** Few lines are worth every pixel of a large screen; of many, a line need not have more points than a panel has pixels. */
function bucketsFor(runs: number): number {
  return runs <= bandsMax ? 500 : Math.max(120, Math.min(270, Math.floor(12_000 / runs)));
}

function withoutEnvelope(series: PlotSeries): PlotSeries {
  if (!series.banded) return series;
  const line = throughExtremes(series.line, series.min, series.max);
  // The axis is made for what is drawn.
  return { ...series, line, min: line, max: line, banded: false };
}

/** A step, or those of a bucket. */
function placeText(axis: OverlayAxis, from: number, to: number): string {
  if (axis === "relative") return formatElapsed(from, 1e6);
  return from === to ? `${axis} ${formatNumber(from, 8)}` : `${axis}s ${formatNumber(from, 8)}–${formatNumber(to, 8)}`;
}

function NonFinite({ series }: { readonly series: readonly PlotSeries[] }) {
  const { compare } = useCompare();
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  const found = series.filter((each) => each.nan.some((count) => count > 0));
  if (found.length === 0) return null;
  return (
    <span className="status-warn" title={found.map((each) => names.get(each.run) ?? each.run).join(", ")}>
      ✕ NaN in {found.length}
    </span>
  );
}

/** The first step at which any run leaves the one they are measured by. */
function Apart({ metric: { key, phase }, axis }: OverlayPanelProps) {
  const { compare } = useCompare();
  const leaves = compare.divergence
    .filter((row) => row.key === key && row.phase === phase && row.step !== null)
    .map((row) => Number(row.step))
    .sort((a, b) => a - b)[0];
  if (leaves === undefined || axis !== "step") return null;
  return (
    <span className="muted one-line" title="the first point of divergence; all of them are under Parameters">
      apart from step {leaves}
    </span>
  );
}

const axes = ["step", "epoch", "relative"] as const;

export function OverlayView() {
  const { compare, search, alone, onDrawn } = useCompare();
  const [axis, setAxis] = useUrlChoice<OverlayAxis>("axis", "compare-axis", "step", axes);
  const view = usePlotChoices();
  const { find = "" } = search;
  const matches = matchText(find);
  const hidden = useMemo(
    () => new Set(alone === null ? search.hide : compare.runs.flatMap(({ id }) => (id === alone ? [] : [id]))),
    [alone, search.hide, compare.runs],
  );
  const shown = compare.metrics
    .filter((metric) => matches(`${metric.phase} ${metric.key}`))
    .sort((a, b) => Number(/loss/.test(b.key)) - Number(/loss/.test(a.key)) || present(b.last) - present(a.last));
  const isEmpty = shown.length === 0;
  useEffect(() => {
    if (isEmpty) onDrawn();
  }, [isEmpty, onDrawn]);
  return (
    <div className="stack">
      <div className="row wrap">
        <PlotControls view={{ ...view, axis, setAxis }} axes={axes} find={find} />
      </div>
      {isEmpty ? (
        <Empty title={compare.metrics.length === 0 ? "None of these runs has metrics." : "No metric matches."} />
      ) : (
        <div className="chart-grid">
          {shown.map((metric) => (
            <OverlayPanel key={panelId(metric)} metric={metric} axis={axis} choices={view.choices} hidden={hidden} />
          ))}
        </div>
      )}
    </div>
  );
}

function present(values: readonly unknown[]): number {
  return values.filter((value) => value !== null).length;
}
