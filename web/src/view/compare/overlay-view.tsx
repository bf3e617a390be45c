// The same metric of all runs in one panel.

import { useMemo, useState } from "react";
import type { CompareAnswer } from "#api/contract/compare.ts";
import { usePreference } from "../../app/preference.ts";
import { useTheme } from "../../app/theme.ts";
import { Plot } from "../../chart/plot.tsx";
import { toPlotSeries } from "../../chart/plot-data.ts";
import { type PlotChoices, toPlotModel } from "../../chart/plot-model.ts";
import type { YScale } from "../../chart/scale.ts";
import { useApi } from "../../data/use-api.ts";
import { Choice } from "../../part/choice.tsx";
import { Problem } from "../../part/notice.tsx";
import { formatNumber } from "../../text/format-number.ts";
import "../charts/charts.css";

const axes = ["step", "epoch", "relative"] as const;
type OverlayAxis = (typeof axes)[number];

export function OverlayView({
  compare,
  colours,
  alone,
}: {
  readonly compare: CompareAnswer;
  readonly colours: ReadonlyMap<string, string>;
  readonly alone: string | null;
}) {
  const [axis, setAxis] = usePreference<OverlayAxis>("compare-axis", "step", axes);
  const [scale, setScale] = usePreference<YScale>("scale", "linear", ["linear", "log", "symlog"]);
  const [robust, setRobust] = useState(false);
  const [smoothing, setSmoothing] = useState(0);
  const choices = useMemo(() => ({ scale, robust, smoothing }), [scale, robust, smoothing]);
  const shared = [...compare.metrics].sort(
    (a, b) => Number(/loss/.test(b.key)) - Number(/loss/.test(a.key)) || present(b.last) - present(a.last),
  );
  return (
    <div className="stack">
      <div className="row wrap">
        <Choice label="Horizontal axis" options={axes} value={axis} onChange={setAxis} />
        <Choice label="Vertical scale" options={["linear", "log", "symlog"]} value={scale} onChange={setScale} />
        <button type="button" className="button" aria-pressed={robust} onClick={() => setRobust(!robust)}>
          robust range
        </button>
        <label className="row">
          <span className="muted">smooth</span>
          <input
            type="range"
            min="0"
            max="0.99"
            step="0.01"
            value={smoothing}
            onChange={(event) => setSmoothing(Number(event.target.value))}
          />
        </label>
      </div>
      <div className="chart-grid">
        {shared.slice(0, 24).map((metric) => (
          <OverlayPanel
            key={`${metric.phase} ${metric.key}`}
            compare={compare}
            metric={metric.key}
            phase={metric.phase}
            axis={axis}
            choices={choices}
            colours={colours}
            alone={alone}
          />
        ))}
      </div>
    </div>
  );
}

function OverlayPanel({
  compare,
  metric,
  phase,
  axis,
  choices,
  colours,
  alone,
}: {
  readonly compare: CompareAnswer;
  readonly metric: string;
  readonly phase: string;
  readonly axis: OverlayAxis;
  readonly choices: PlotChoices;
  readonly colours: ReadonlyMap<string, string>;
  readonly alone: string | null;
}) {
  const theme = useTheme();
  const [read, setRead] = useState("");
  const answer = useApi(
    "series",
    { body: { runs: compare.runs.map((run) => run.id), keys: [metric], phase, axis, buckets: 500 } },
    { keep: true, staleMs: 30_000 },
  );
  const series = useMemo(() => {
    const starts = new Map(compare.runs.map((run) => [run.id, run.start_ns ?? "0"]));
    return answer.data?.series.map((each) => toPlotSeries(each, answer.data.axis, starts.get(each.run) ?? "0")) ?? [];
  }, [answer.data, compare.runs]);
  const lines = useMemo(() => series.map((each) => colours.get(each.run) ?? "#888888"), [series, colours]);
  const hidden = useMemo(
    () => new Set(alone === null ? [] : series.flatMap((each, i) => (each.run === alone ? [] : [i]))),
    [series, alone],
  );
  const outside = useMemo(() => toPlotModel(series, choices).outside, [series, choices]);
  const names = new Map(compare.runs.map((run) => [run.id, run.name]));
  const leaves = compare.divergence
    .filter((row) => row.key === metric && row.phase === phase && row.step !== null)
    .map((row) => Number(row.step))
    .sort((a, b) => a - b)[0];
  const nonFinite = series.filter((each) => each.nan.some((count) => count > 0));
  return (
    <section className="panel chart-panel" aria-label={`${metric} ${phase}`}>
      <header className="chart-head">
        <h3 className="clip">
          {metric} <span className="muted">{phase}</span>
        </h3>
        {outside === "" ? null : <span className="status-warn">{outside}</span>}
        {nonFinite.length === 0 ? null : (
          <span className="status-warn" title={nonFinite.map((each) => names.get(each.run)).join(", ")}>
            ✕ NaN in {nonFinite.length}
          </span>
        )}
        {leaves === undefined ? null : (
          <span className="muted" title="the first point of divergence; all of them are under Parameters">
            apart from step {leaves}
          </span>
        )}
        <span className="grow" />
        <span className="readout clip">{read}</span>
      </header>
      {answer.error === null ? null : <Problem error={answer.error} />}
      {answer.data === undefined ? (
        <div style={{ height: 220 }} />
      ) : series.length === 0 ? (
        <p className="muted chart-none" style={{ height: 220 }}>
          no {axis} was sent with these points
        </p>
      ) : (
        <Plot
          id={`compare ${metric} ${phase}`}
          series={series}
          axis={axis}
          choices={choices}
          colours={lines}
          theme={theme}
          height={220}
          startMs={0}
          hidden={hidden}
          label={`${metric} ${phase} of ${series.length} runs`}
          onRead={(rows) => setRead(rows === null ? "" : bestAt(series, rows, names))}
        />
      )}
    </section>
  );
}

/** The lowest and the highest run at the cursor. */
function bestAt(
  series: readonly ReturnType<typeof toPlotSeries>[],
  rows: readonly (number | null)[],
  names: ReadonlyMap<string, string>,
): string {
  const found = series.flatMap((each, i) => {
    const row = rows[i];
    const value = row === null || row === undefined ? null : each.last[row];
    return value === null || value === undefined ? [] : [{ name: names.get(each.run) ?? each.run, value }];
  });
  found.sort((a, b) => a.value - b.value);
  const low = found[0];
  const high = found.at(-1);
  if (low === undefined || high === undefined) return "";
  return low === high
    ? `${low.name} ${formatNumber(low.value)}`
    : `${low.name} ${formatNumber(low.value)} … ${formatNumber(high.value)} ${high.name}`;
}

function present(values: readonly unknown[]): number {
  return values.filter((value) => value !== null).length;
}
