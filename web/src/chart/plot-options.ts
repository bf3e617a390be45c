// The options of one plot: quiet axes, thin lines, no legend of its own.

import type uPlot from "uplot";
import type { Axis } from "#api/contract/series.ts";
import { largestOf } from "#base/extremes.ts";
import type { Inks } from "../app/theme.ts";
import { formatSi } from "../text/format-number.ts";
import { formatClock, formatElapsed } from "../text/format-time.ts";
import type { PlotModel } from "./plot-model.ts";
import { niceTicks, timeTicks, type YScale } from "./scale.ts";
import { tickTexts, valueTicks } from "./ticks.ts";

export interface PlotLook {
  readonly axis: Axis;
  readonly scale: YScale;
  /** Where a symlog scale turns from linear to logarithmic. */
  readonly linear: number;
  readonly colours: readonly string[];
  readonly inks: Inks;
  readonly hidden: ReadonlySet<number>;
  /** The run's start in milliseconds since the epoch, for the time axis. */
  readonly startMs: number;
}

const font = "11px system-ui, sans-serif";
const lineWidth = 1.25;
const meanWidth = 2;

/** Columns in the order the options name them. */
export function toColumns(model: PlotModel): uPlot.AlignedData {
  const columns = model.lines.flatMap((line) => [
    ...(line.high === null || line.low === null ? [] : [line.high, line.low]),
    line.raw,
    ...(line.smooth === null ? [] : [line.smooth]),
  ]);
  return [model.x, ...columns] as uPlot.AlignedData;
}

/** More lines than these share a plot without fills, which would only muddy each other. */
const filledMax = 3;

/**
 * The edges of an envelope are drawn as strongly as the line: what happened once within a bucket is what people look
 * for, and it must not be the faintest thing on the page. Around the mean of several runs they are seen, and stand back.
 */
export function toSeriesOptions(model: PlotModel, look: PlotLook): { series: uPlot.Series[]; bands: uPlot.Band[] } {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  model.lines.forEach((line, i) => {
    const stroke = look.colours[i] ?? look.inks.accent;
    const show = !look.hidden.has(i);
    if (line.high !== null && line.low !== null) {
      const at = series.length;
      const edge: uPlot.Series = { show, stroke, width: lineWidth, points: { show: false }, spanGaps: false };
      if (line.isMean) Object.assign(edge, { stroke: `${stroke}80`, width: 1 });
      series.push(edge, { ...edge });
      if (line.isMean || model.lines.length <= filledMax)
        bands.push({ series: [at, at + 1], fill: `${stroke}${line.isMean ? "26" : "40"}` });
    }
    const few = line.raw.filter((value) => value !== undefined && value !== null).length <= 60;
    const faded = line.smooth !== null;
    series.push({
      show,
      stroke: faded ? `${stroke}80` : stroke,
      width: line.isMean ? meanWidth : lineWidth,
      spanGaps: false,
      points: few && !faded ? { show: true, size: 4, fill: stroke, stroke } : { show: false },
    });
    if (line.smooth !== null) series.push({ show, stroke, width: 2, points: { show: false } });
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
      size: 26,
      gap: 5,
      splits: (plot, _axis, min, max) => {
        const count = Math.max(1, Math.floor(plot.bbox.width / devicePixelRatio / (timed ? 80 : 56)));
        return timed ? timeTicks(min, max, count).ticks : wholeTicks(min, max, count);
      },
      values: (_plot, splits) => {
        const [first = 0, second = first + 1e9] = splits;
        const stepNs = second - first;
        if (look.axis === "relative") return splits.map((value) => formatElapsed(value, stepNs));
        if (look.axis === "time") {
          const cut = stepNs >= 1e9 ? 8 : 12;
          return splits.map((value) => formatClock(look.startMs + value / 1e6).slice(0, cut));
        }
        return tickTexts(splits, formatSi);
      },
    },
    {
      ...quiet,
      gap: 4,
      size: (_plot, texts) => Math.max(52, 12 + 6.4 * Math.max(0, largestOf((texts ?? []).map((text) => text.length)))),
      // The library draws no axis where none of its steps fits, and knows none below 5 that is not its own; ours are
      // chosen below.
      incrs: (_plot, _axis, min, max) => [Math.max(5, (max - min) / 2)],
      splits: (plot, _axis, min, max) => {
        // The drawing area is not known yet when the axes are first measured.
        const count = Math.max(2, Math.floor((plot.height - 30) / 34));
        return valueTicks(look.scale, { min, max }, look.linear, count);
      },
      // The library leaves out marks of a log axis that are not powers of ten.
      filter: (_plot, splits) => splits,
      values: (_plot, splits) => tickTexts(splits),
    },
  ];
}

/** Steps and epochs are counted: no ticks between whole numbers. */
function wholeTicks(min: number, max: number, count: number): number[] {
  return niceTicks({ min, max }, count).filter(Number.isInteger);
}

export function toScale(look: PlotLook, model: () => PlotModel): uPlot.Scale {
  const range = (): uPlot.Range.MinMax => [model().range.min, model().range.max];
  if (look.scale === "log") return { distr: 3, log: 10, range };
  if (look.scale === "symlog") return { distr: 4, asinh: look.linear, range };
  return { range };
}
