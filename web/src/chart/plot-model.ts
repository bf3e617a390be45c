// From series to the columns and ranges a plot draws. Pure: no pixels, no library.

import { alignSeries, type PlotSeries, pickColumn } from "./plot-data.ts";
import { extentOf, padRange, type Range, robustRange, type YBounds, type YScale } from "./scale.ts";
import { smooth } from "./smooth.ts";
import { symlogLinear } from "./ticks.ts";

export interface PlotChoices {
  readonly scale: YScale;
  readonly robust: boolean;
  /** Set by hand for this plot; it stands over `robust`. */
  readonly bounds?: YBounds | null;
  /** 0…0.99 */
  readonly smoothing: number;
}

/** As the points are. */
export const plainChoices: PlotChoices = { scale: "linear", robust: false, smoothing: 0 };

type Column = (number | null | undefined)[];

export interface PlotModel {
  readonly x: number[];
  /** For each series: raw line, smoothed line (null without smoothing), upper and lower edge of its envelope (null without one). */
  readonly lines: readonly {
    readonly raw: Column;
    readonly smooth: Column | null;
    readonly high: Column | null;
    readonly low: Column | null;
    /** The envelope stands behind the line. */
    readonly isMean: boolean;
  }[];
  readonly range: Range;
  /** Where a symlog axis turns from linear to logarithmic. */
  readonly linear: number;
  /** What the y axis does not show, in words; '' when it shows all. */
  readonly outside: string;
}

export function toPlotModel(list: readonly PlotSeries[], choices: PlotChoices): PlotModel {
  const aligned = alignSeries(list);
  const lines = list.map((series, i) => {
    const rows = aligned.rows[i] ?? new Int32Array();
    const positive = (values: readonly (number | null)[]) =>
      choices.scale === "log" ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
    const line = positive(series.line);
    return {
      raw: pickColumn(line, rows),
      smooth: choices.smoothing > 0 ? pickColumn(smooth(line, choices.smoothing), rows) : null,
      high: series.banded ? pickColumn(positive(series.max), rows) : null,
      low: series.banded ? pickColumn(positive(series.min), rows) : null,
      isMean: series.isMean === true,
    };
  });
  const values = extremesOf(list);
  return { x: aligned.x, lines, linear: symlogLinear(values), ...yRange(list, values, choices) };
}

/** What the y axis does not show, in words, without working out the rest. */
export function outsideOf(list: readonly PlotSeries[], choices: PlotChoices): string {
  const { scale, robust, bounds = null } = choices;
  return scale === "log" || robust || bounds !== null ? yRange(list, extremesOf(list), choices).outside : "";
}

function extremesOf(list: readonly PlotSeries[]): (number | null)[] {
  return list.flatMap((series) => [...series.min, ...series.max]);
}

function yRange(
  list: readonly PlotSeries[],
  values: readonly (number | null)[],
  choices: PlotChoices,
): { range: Range; outside: string } {
  const isLog = choices.scale === "log";
  const kept = isLog ? values.filter((value) => value !== null && value > 0) : values;
  const { bounds = null } = choices;
  const robust = choices.robust && bounds === null ? robustRange(kept) : null;
  const least = bounds?.min ?? robust?.min ?? null;
  const most = bounds?.max ?? robust?.max ?? null;
  const outside = [
    isLog ? countText(list, (low) => low <= 0, "not above 0") : "",
    most === null ? "" : countText(list, (_low, high) => high > most, "above ▲"),
    least === null ? "" : countText(list, (low) => low < least && (!isLog || low > 0), "below ▼"),
  ].filter((part) => part !== "");
  const plain = robust ?? extentOf(kept);
  const range = isLog ? padLog(plain ?? { min: 1, max: 10 }) : padRange(plain ?? { min: 0, max: 1 });
  return { range: bounds === null ? range : withBounds(range, bounds, isLog), outside: outside.join(", ") };
}

/** Where only one side is set and the data lies beyond it, the other side makes room. */
function withBounds(range: Range, bounds: YBounds, isLog: boolean): Range {
  const min = bounds.min !== null && (!isLog || bounds.min > 0) ? bounds.min : null;
  const max = bounds.max !== null && (!isLog || bounds.max > 0) ? bounds.max : null;
  const room = isLog ? padLog : padRange;
  if (min !== null && max !== null) return { min, max };
  if (min !== null) return { min, max: range.max > min ? range.max : room({ min, max: min }).max };
  if (max !== null) return { min: range.min < max ? range.min : room({ min: max, max }).min, max };
  return range;
}

/** How many points are outside; of a bucket it is only known that some of its points are. */
function countText(list: readonly PlotSeries[], is: (low: number, high: number) => boolean, words: string): string {
  let points = 0;
  let buckets = 0;
  for (const { min, max, count } of list) {
    min.forEach((low, i) => {
      const high = max[i];
      if (low === null || high === null || high === undefined || !is(low, high)) return;
      if ((count[i] ?? 1) > 1) buckets++;
      else points++;
    });
  }
  if (points + buckets === 0) return "";
  return buckets === 0 ? `${points} ${words}` : `${points + buckets} or more ${words}`;
}

function padLog(range: Range): Range {
  if (range.min === range.max) return { min: range.min / 2, max: range.max * 2 };
  const air = (range.max / range.min) ** 0.05;
  return { min: range.min / air, max: range.max * air };
}

/** Rows as tab-separated text, for pasting into a sheet. */
export function toTsv(list: readonly PlotSeries[]): string {
  const head = "run\tkey\tphase\tworker\tx\tcount\tlast\tmin\tmax\tnan\tinf\t-inf";
  const columns = ["x", "count", "last", "min", "max", "nan", "posInf", "negInf"] as const;
  const rows = list.flatMap((series) => {
    const { run, key, phase, worker } = series;
    return series.x.map((_, i) => [run, key, phase, worker, ...columns.map((name) => series[name][i])].join("\t"));
  });
  return [head, ...rows].join("\n");
}
