// A tensor's statistics over time as series that the charts can draw.

import type { Snapshot } from "#api/contract/snapshot.ts";
import { finiteOrNull, type PlotSeries, toPointSeries } from "../../chart/plot-data.ts";
import { toNumber } from "../../text/format-number.ts";
import { toOffsetNs } from "../../text/format-time.ts";

/** Mean within min–max, mean within ± std, and the norm alone. */
export function toStatsSeries(
  rows: readonly Snapshot[],
  startNs: string,
): { spread: PlotSeries[]; norm: PlotSeries[] } {
  const t = rows.map((row) => toOffsetNs(row.ts_ns, startNs));
  const column = (name: "mean" | "std" | "min" | "max" | "norm") => rows.map((row) => toNumber(row[name]));
  const mean = column("mean");
  const std = column("std");
  const beside = (sign: 1 | -1) => mean.map((value, i) => (value === null ? null : value + sign * (std[i] ?? 0)));
  const within = (key: string, min: (number | null)[], max: (number | null)[]): PlotSeries => ({
    ...toPointSeries(key, t, mean),
    min: min.map(finiteOrNull),
    max: max.map(finiteOrNull),
    banded: true,
  });
  return {
    spread: [within("min–max", column("min"), column("max")), within("± std", beside(-1), beside(1))],
    norm: [toPointSeries("norm", t, column("norm"))],
  };
}
