// What a panel says in words: the value under the cursor, and the whole of it for those who do not see the picture.

import type { Axis } from "#api/contract/series.ts";
import type { MetricPanel } from "../../chart/metric-groups.ts";
import { isTimed } from "../../chart/plot-cursor.ts";
import type { PlotSeries } from "../../chart/plot-data.ts";
import type { PlotEvent } from "../../chart/plot-draw.ts";
import { extremeRow } from "../../chart/scale.ts";
import { getCursor } from "../../clock/cursor.ts";
import type { RunClock } from "../../clock/run-clock.tsx";
import { countOf, formatFloat, formatNumber } from "../../text/format-number.ts";
import { formatElapsed } from "../../text/format-time.ts";

export function lastText(series: readonly PlotSeries[], panel: MetricPanel): string {
  const one = series.length === 1 ? series[0] : undefined;
  // The last of several workers' points is one worker's; what they all did is their mean.
  const isShared = one?.worker === null && panel.info.workers.length > 1;
  const last = isShared ? one?.line.at(-1) : one?.last.at(-1);
  return last === undefined || last === null ? formatFloat(panel.info.last) : formatNumber(last);
}

export function readText(
  series: readonly PlotSeries[],
  rows: readonly (number | null)[] | null,
  panel: MetricPanel,
): string {
  if (rows === null) return lastText(series, panel);
  const texts = rows.map((row, i) => valueText(series[i], row));
  return texts.length > 3 ? `${texts.slice(0, 3).join("  ")}  +${texts.length - 3}` : texts.join("  ");
}

/** The command or checkpoint under the cursor. */
export function eventText(events: readonly PlotEvent[], clock: RunClock): string {
  const cursor = getCursor();
  const { from, to } = clock.window ?? clock.limits;
  const near = cursor === null ? [] : events.filter((event) => Math.abs(event.t - cursor.t) < (to - from) / 120);
  return near.length === 0 ? "" : `  ▾ ${near.map((event) => event.label).join(", ")}`;
}

function valueText(series: PlotSeries | undefined, row: number | null): string {
  if (series === undefined || row === null) return "–";
  if ((series.nan[row] ?? 0) > 0) return `NaN ×${series.nan[row]}`;
  const value = series.line[row];
  const text = value === null || value === undefined ? "–" : formatNumber(value);
  const count = series.count[row] ?? 1;
  return count > 1 ? `⌀ ${text} (${formatFloat(series.min[row])}…${formatFloat(series.max[row])})` : text;
}

/** "600 points, last 0.69, min 0.66 at step 12, max 6.7 at step 12 270, 59 NaN" */
export function describeSeries(list: readonly PlotSeries[], axis: Axis): string {
  const sum = (pick: (series: PlotSeries) => readonly number[]) =>
    list.reduce((all, series) => all + pick(series).reduce((a, b) => a + b, 0), 0);
  const points = list.reduce((all, series) => all + series.points, 0);
  const nan = sum((series) => series.nan);
  const infinite = sum((series) => series.posInf) + sum((series) => series.negInf);
  const last = list.length === 1 ? list[0]?.last.at(-1) : undefined;
  return [
    countOf(points, "point"),
    last === undefined || last === null ? "" : `last ${formatNumber(last)}`,
    extremeText("min", list, axis),
    extremeText("max", list, axis),
    nan > 0 ? `${nan} NaN` : "",
    infinite > 0 ? `${infinite} infinite` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function extremeText(of: "min" | "max", list: readonly PlotSeries[], axis: Axis): string {
  const way = of === "max" ? 1 : -1;
  const rows = list.map((series) => extremeRow(series[of], way));
  const at = extremeRow(
    list.map((series, i) => series[of][rows[i] ?? -1] ?? null),
    way,
  );
  const [series, row = -1] = [list[at], rows[at]];
  return series === undefined ? "" : `${of} ${formatFloat(series[of][row])} at ${placeText(series, row, axis)}`;
}

/** "step 120", or "steps 101 to 120" of a bucket. */
export function placeText(series: PlotSeries, row: number, axis: Axis): string {
  const [from = 0, to = 0] = [series.x[row], series.xLast[row]];
  if (isTimed(axis)) return formatElapsed(from, 1e6);
  return from === to ? `${axis} ${formatNumber(from)}` : `${axis}s ${formatNumber(from)} to ${formatNumber(to)}`;
}
