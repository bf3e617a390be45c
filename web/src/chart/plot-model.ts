// From series to the columns and ranges a plot draws. Pure: no pixels, no library.

import { alignSeries, type PlotSeries, pickColumn } from "./plot-data.ts";
import { extentOf, padRange, type Range, robustRange, type YScale } from "./scale.ts";
import { smooth } from "./smooth.ts";

export interface PlotChoices {
  readonly scale: YScale;
  readonly robust: boolean;
  /** 0…0.99 */
  readonly smoothing: number;
}

type Column = (number | null | undefined)[];

export interface PlotModel {
  readonly x: number[];
  /** For each series: raw line, smoothed line (null without smoothing), upper and lower edge of the band (null without one). */
  readonly lines: readonly {
    readonly raw: Column;
    readonly smooth: Column | null;
    readonly high: Column | null;
    readonly low: Column | null;
  }[];
  readonly range: Range;
  /** What the y axis does not show, in words; '' when it shows all. */
  readonly outside: string;
}

export function toPlotModel(list: readonly PlotSeries[], choices: PlotChoices): PlotModel {
  const aligned = alignSeries(list);
  const lines = list.map((series, i) => {
    const rows = aligned.rows[i] ?? new Int32Array();
    const positive = (values: readonly (number | null)[]) =>
      choices.scale === "log" ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
    const last = positive(series.last);
    return {
      raw: pickColumn(last, rows),
      smooth: choices.smoothing > 0 ? pickColumn(smooth(last, choices.smoothing), rows) : null,
      high: series.banded ? pickColumn(positive(series.max), rows) : null,
      low: series.banded ? pickColumn(positive(series.min), rows) : null,
    };
  });
  const values = list.flatMap((series) => [...series.min, ...series.max]);
  return { x: aligned.x, lines, ...yRange(values, choices) };
}

function yRange(values: readonly (number | null)[], choices: PlotChoices): { range: Range; outside: string } {
  const notes: string[] = [];
  let kept = values;
  if (choices.scale === "log") {
    kept = values.filter((value) => value !== null && value > 0);
    const lost = values.filter((value) => value !== null && value <= 0).length;
    if (lost > 0) notes.push(`${lost} not above 0`);
  }
  const robust = choices.robust ? robustRange(kept) : null;
  if (robust !== null) {
    if (robust.above > 0) notes.push(`${robust.above} above ▲`);
    if (robust.below > 0) notes.push(`${robust.below} below ▼`);
  }
  const plain = robust ?? extentOf(kept) ?? { min: 0, max: 1 };
  const range = choices.scale === "log" ? padLog(plain) : padRange(plain);
  return { range, outside: notes.join(", ") };
}

function padLog(range: Range): Range {
  return range.min === range.max
    ? { min: range.min / 2, max: range.max * 2 }
    : { min: range.min * 0.9, max: range.max * 1.1 };
}

/** Rows as tab-separated text, for pasting into a sheet. */
export function toTsv(list: readonly PlotSeries[]): string {
  const head = "run\tkey\tphase\tworker\tx\tcount\tlast\tmin\tmax\tnan\tinf\t-inf";
  const rows = list.flatMap((series) =>
    series.x.map((x, i) =>
      [
        series.run,
        series.key,
        series.phase,
        series.worker ?? "",
        x,
        series.count[i],
        series.last[i] ?? "",
        series.min[i] ?? "",
        series.max[i] ?? "",
        series.nan[i],
        series.posInf[i],
        series.negInf[i],
      ].join("\t"),
    ),
  );
  return [head, ...rows].join("\n");
}
