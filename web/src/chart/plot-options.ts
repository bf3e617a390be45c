// The options of one plot: quiet axes, thin lines, no legend of its own.

import type uPlot from "uplot";
import type { Axis } from "#api/contract/series.ts";
import type { Inks } from "../app/theme.ts";
import { formatSi } from "../text/format-number.ts";
import { formatClock, formatElapsed } from "../text/format-time.ts";
import type { PlotModel } from "./plot-model.ts";
import { niceTicks, type Range, timeTicks, type YScale } from "./scale.ts";

export interface PlotLook {
  readonly axis: Axis;
  readonly scale: YScale;
  readonly colours: readonly string[];
  readonly inks: Inks;
  readonly hidden: ReadonlySet<number>;
  /** The run's start in milliseconds since the epoch, for the time axis. */
  readonly startMs: number;
}

const font = "11px system-ui, sans-serif";

/** Columns in the order the options name them. */
export function toColumns(model: PlotModel): uPlot.AlignedData {
  const columns = model.lines.flatMap((line) => [
    ...(line.high === null || line.low === null ? [] : [line.high, line.low]),
    line.raw,
    ...(line.smooth === null ? [] : [line.smooth]),
  ]);
  return [model.x, ...columns] as uPlot.AlignedData;
}

export function toSeriesOptions(model: PlotModel, look: PlotLook): { series: uPlot.Series[]; bands: uPlot.Band[] } {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  model.lines.forEach((line, i) => {
    const stroke = look.colours[i] ?? look.inks.accent;
    const show = !look.hidden.has(i);
    if (line.high !== null && line.low !== null) {
      const at = series.length;
      const edge: uPlot.Series = { show, stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
      series.push(edge, { ...edge });
      bands.push({ series: [at, at + 1], fill: `${stroke}${line.smooth === null ? "2e" : "1c"}` });
    }
    const few = line.raw.filter((value) => value !== undefined && value !== null).length <= 60;
    const faded = line.smooth !== null;
    series.push({
      show,
      stroke: faded ? `${stroke}4d` : stroke,
      width: 1.25,
      spanGaps: false,
      points: few && !faded ? { show: true, size: 4, fill: stroke, stroke } : { show: false },
    });
    if (line.smooth !== null) series.push({ show, stroke, width: 1.75, points: { show: false } });
  });
  return { series, bands };
}

export function toAxes(look: PlotLook): uPlot.Axis[] {
  const quiet = {
    stroke: look.inks.muted,
    font,
    grid: { stroke: look.inks.grid, width: 1 },
    ticks: { show: false },
  };
  const timed = look.axis === "time" || look.axis === "relative";
  return [
    {
      ...quiet,
      size: 24,
      gap: 2,
      splits: (plot, _axis, min, max) => {
        const count = Math.max(1, Math.floor(plot.bbox.width / devicePixelRatio / (timed ? 80 : 56)));
        return timed ? timeTicks(min, max, count).ticks : wholeTicks(min, max, count);
      },
      values: (_plot, splits) => {
        const stepNs = (splits[1] ?? 0) - (splits[0] ?? 0) || 1e9;
        if (look.axis === "relative") return splits.map((value) => formatElapsed(value, stepNs));
        if (look.axis === "time") {
          const cut = stepNs >= 1e9 ? 8 : 12;
          return splits.map((value) => formatClock(look.startMs + value / 1e6).slice(0, cut));
        }
        return splits.map((value) => formatSi(value, 4));
      },
    },
    {
      ...quiet,
      size: 52,
      gap: 4,
      ...(look.scale === "linear"
        ? {
            splits: (plot: uPlot, _axis: number, min: number, max: number) =>
              atLeastTwo({ min, max }, Math.max(2, Math.floor(plot.bbox.height / devicePixelRatio / 34))),
          }
        : {}),
      values: (_plot, splits) => splits.map((value) => (value === null ? "" : formatSi(value))),
    },
  ];
}

/** One tick says nothing about a scale: where round numbers are rare, more of them are taken. */
function atLeastTwo(range: Range, count: number): number[] {
  const ticks = niceTicks(range, count);
  return ticks.length >= 2 ? ticks : niceTicks(range, count * 2);
}

/** Steps and epochs are counted: no ticks between whole numbers. */
function wholeTicks(min: number, max: number, count: number): number[] {
  return niceTicks({ min, max }, count).filter(Number.isInteger);
}

export function toScale(scale: YScale, model: () => PlotModel): uPlot.Scale {
  const range = (): uPlot.Range.MinMax => [model().range.min, model().range.max];
  if (scale === "log") return { distr: 3, log: 10, range };
  if (scale === "symlog") return { distr: 4, asinh: 0.01, range };
  return { range };
}
