// Steps and values of a moment: which steps it holds, and where the least and the greatest value stand.

import { useMemo } from "react";
import type { SeriesBody } from "#api/contract/series.ts";
import { panelId } from "../chart/metric-groups.ts";
import { type PlotSeries, toPlotSeries } from "../chart/plot-data.ts";
import { extremeRow } from "../chart/scale.ts";
import { useApi } from "../data/use-api.ts";
import { Button } from "../part/button.tsx";
import { Name } from "../part/name.tsx";
import { formatFloat, formatNumber } from "../text/format-number.ts";
import { formatElapsed } from "../text/format-time.ts";
import { useRunClock, useRunMetrics } from "./run-clock.tsx";
import { chooseStepMetric } from "./use-steps.ts";
import { formatWindow, type TimeWindow } from "./window.ts";

export function MomentSteps({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null) return null;
  const [first = 0, last = 0] = [series.x[0], series.xLast.at(-1)];
  const nan = series.nan.reduce((sum, count) => sum + count, 0);
  return (
    <>
      {metric.axis === "time" ? null : (
        <>
          <dt>step</dt>
          <dd>{first === last ? formatNumber(first) : `${formatNumber(first)}–${formatNumber(last)}`}</dd>
        </>
      )}
      <dt title={metric.of}>
        <Name>{metric.key}</Name>
      </dt>
      <dd>{nan > 0 ? `NaN${nan > 1 ? ` ×${nan}` : ""}` : formatFloat(series.last.at(-1))}</dd>
    </>
  );
}

/** The extremes of a moment that holds several points; each leads to its own step. */
export function MomentExtremes({ metric }: { readonly metric: MomentMetric | null }) {
  const series = metric?.series ?? null;
  if (metric === null || series === null || series.points < 2) return <span />;
  return (
    <div className="column moment-extremes">
      <Extreme of="max" metric={metric} series={series} />
      <Extreme of="min" metric={metric} series={series} />
    </div>
  );
}

interface ExtremeProps {
  readonly of: "min" | "max";
  readonly metric: MomentMetric;
  readonly series: PlotSeries;
}

function Extreme({ of, metric, series }: ExtremeProps) {
  const { setPin, pin } = useRunClock();
  const values = series[of];
  const row = extremeRow(values, of === "max" ? 1 : -1);
  if (row < 0) return null;
  const x = series.x[row] ?? 0;
  const place = metric.axis === "time" ? formatElapsed(x, 1e6) : `step ${formatNumber(x)}`;
  const to = series.tLast[row] ?? 0;
  const from = Math.min(series.tLast[row - 1] ?? pin?.from ?? to - 1, to - 1);
  return (
    <Button look="quiet small" title="pin it" onClick={() => setPin({ from, to, of: metric.of })}>
      <span className="muted">{of}</span> {formatFloat(values[row])} <span className="muted">at {place}</span>
    </Button>
  );
}

export interface MomentMetric {
  readonly key: string;
  readonly of: string;
  readonly axis: "step" | "time";
  /** Null while it is on its way, and when nothing was logged within. */
  readonly series: PlotSeries | null;
}

/** Of the metric that is pointed at, else of the one that ties steps to the clock. Null for a run without metrics. */
export function useMomentMetric(moment: TimeWindow, of: string): MomentMetric | null {
  const { run, startNs } = useRunClock();
  const metrics = useRunMetrics();
  const metric = useMemo(
    () => metrics.find((each) => panelId(each) === of) ?? chooseStepMetric(metrics),
    [metrics, of],
  );
  const axis = metric === null || metric.first_step !== null ? "step" : "time";
  // A moment begins after the last point of the one before.
  const { from, to } = formatWindow({ from: moment.from + 1, to: moment.to }, startNs);
  const body: SeriesBody = {
    runs: [run.id],
    keys: [metric?.key ?? "-"],
    phase: metric?.phase ?? "",
    axis,
    buckets: 2_000,
    from_ns: from,
    to_ns: to,
  };
  const answer = useApi("series", { body }, { enabled: metric !== null, keep: true, staleMs: 60_000 });
  const series = useMemo(() => {
    const found = answer.data?.series.find((each) => each.key === metric?.key && each.phase === metric.phase);
    return found === undefined || found.x.length === 0 ? null : toPlotSeries(found, axis, startNs);
  }, [answer.data, metric, axis, startNs]);
  if (metric === null) return null;
  return { key: metric.key, of: panelId(metric), axis, series };
}
