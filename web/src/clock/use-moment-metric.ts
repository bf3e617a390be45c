// The points of a moment, exactly: a bucket of a chart may stand for many steps, and its greatest value is one of them.

import { useMemo } from "react";
import type { SeriesBody } from "#api/contract/series.ts";
import { panelId } from "../chart/metric-groups.ts";
import { type PlotSeries, toPlotSeries } from "../chart/plot-data.ts";
import { useApi } from "../data/use-api.ts";
import { useRunClock } from "./run-clock.tsx";
import { chooseStepMetric } from "./use-steps.ts";
import { formatWindow, type TimeWindow } from "./window.ts";

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
  const metrics = useApi("metrics", { params: { id: run.id } }, { enabled: run.counts.metrics > 0 });
  const metric = useMemo(() => {
    const all = metrics.data?.metrics ?? [];
    return all.find((each) => panelId(each) === of) ?? chooseStepMetric(all);
  }, [metrics.data, of]);
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
