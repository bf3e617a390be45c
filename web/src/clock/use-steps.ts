// The series that ties this run's steps to its clock: its loss when it has one, else what has most points.

import { useMemo } from "react";
import type { MetricInfo } from "#api/contract/series.ts";
import { type PlotSeries, toPlotSeries } from "../chart/plot-data.ts";
import { useApi } from "../data/use-api.ts";
import { useRunClock, useRunMetrics } from "./run-clock.tsx";

export function useSteps(): PlotSeries | null {
  const { run, startNs } = useRunClock();
  const metrics = useRunMetrics();
  const liked = useMemo(() => chooseStepMetric(metrics), [metrics]);
  const { key, phase } = liked ?? { key: "-", phase: "" };
  const series = useApi(
    "series",
    { body: { runs: [run.id], keys: [key], phase, axis: "step", buckets: 1000 } },
    {
      enabled: liked !== null,
      keep: true,
      staleMs: 30_000,
      ...(run.status === "running" ? { refetchMs: 20_000 } : {}),
    },
  );
  return useMemo(() => {
    const first = series.data?.series.find((each) => each.phase === phase);
    return first === undefined || first.x.length === 0 ? null : toPlotSeries(first, "step", startNs);
  }, [series.data, phase, startNs]);
}

export function chooseStepMetric(metrics: readonly MetricInfo[]): MetricInfo | null {
  const weight = (metric: MetricInfo) => metric.count * (/loss/.test(metric.key) ? 1000 : 1);
  return [...metrics].filter((metric) => metric.count > 1).sort((a, b) => weight(b) - weight(a))[0] ?? null;
}
