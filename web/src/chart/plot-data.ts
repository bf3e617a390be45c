// A series answer made ready to draw: typed columns in the axis' own unit, with the places of what is not finite.

import type { Float } from "#api/contract/scalar.ts";
import type { Axis, Series } from "#api/contract/series.ts";

export const plotColumns = [
  ...(["x", "xLast", "t", "tLast", "line", "last"] as const),
  ...(["min", "max", "count", "nan", "posInf", "negInf"] as const),
] as const;
export type PlotColumns = Pick<PlotSeries, (typeof plotColumns)[number]>;

export interface PlotSeries {
  readonly run: string;
  readonly key: string;
  readonly phase: string;
  readonly worker: string | null;
  readonly points: number;
  /** First and last position of each bucket: step, epoch, or nanoseconds after the run's start. Ascending. */
  readonly x: number[];
  readonly xLast: number[];
  /** Nanoseconds after the run's start of each bucket's first and last point. */
  readonly t: number[];
  readonly tLast: number[];
  /** Where the line goes through: the point itself, or the mean of a bucket with several. */
  readonly line: (number | null)[];
  readonly last: (number | null)[];
  readonly min: (number | null)[];
  readonly max: (number | null)[];
  readonly count: number[];
  readonly nan: number[];
  readonly posInf: number[];
  readonly negInf: number[];
  /** Some bucket holds more than one point: draw the envelope. */
  readonly banded: boolean;
  /** The envelope is of several runs around their mean, and the mean is what is looked at. */
  readonly isMean?: true;
}

/** Time since the start is the time axis in other words. The server's own would begin at the run's first point. */
export function wireAxis(axis: Axis): Axis {
  return axis === "relative" ? "time" : axis;
}

/** What an answer is drawn by: until the one that was asked for is here, the older one keeps its own axis. */
export function drawnAxis<Wanted extends Axis>(
  wanted: Wanted,
  answered: Axis | undefined,
): Wanted | Exclude<Axis, "time"> {
  if (answered === undefined || answered === wireAxis(wanted)) return wanted;
  return answered === "time" ? "relative" : answered;
}

/** `startNs` is the run's start, the zero of its clock. */
export function toPlotSeries(answer: Series, axis: Axis, startNs: string): PlotSeries {
  // A comparison of many lines does not ask for the time of each bucket's last point.
  const timed = answer.t_last.length === 0 ? { ...answer, t_last: answer.t } : answer;
  const series = timed.exact ? foldEqual(timed) : timed;
  const tZero = Number(BigInt(series.t_base) - BigInt(startNs));
  const xZero = axis === "time" ? Number(BigInt(series.x_base) - BigInt(startNs)) : Number(series.x_base);
  const last = series.last.map((value, i) => finiteOr(value, series.max[i] ?? null));
  return {
    run: series.run,
    key: series.key,
    phase: series.phase,
    worker: series.worker,
    points: series.points,
    x: series.x.map((offset) => xZero + offset),
    xLast: series.x_last.map((offset) => xZero + offset),
    t: series.t.map((offset) => tZero + offset),
    tLast: series.t_last.map((offset) => tZero + offset),
    line: last.map((value, i) => ((series.count[i] ?? 1) > 1 ? (series.mean[i] ?? null) : value)),
    last,
    min: [...series.min],
    max: [...series.max],
    count: [...series.count],
    nan: [...series.nan],
    posInf: [...series.pos_inf],
    negInf: [...series.neg_inf],
    banded: series.count.some((count) => count > 1),
  };
}

/** A series of no run: one point per row, null where there is none. */
export function toPointSeries(key: string, x: number[], values: readonly (number | null)[]): PlotSeries {
  const finite = values.map(finiteOrNull);
  return {
    run: "",
    key,
    phase: "",
    worker: null,
    points: x.length,
    x,
    xLast: x,
    t: x,
    tLast: x,
    line: finite,
    last: finite,
    min: finite,
    max: finite,
    count: x.map(() => 1),
    nan: values.map((value) => (Number.isNaN(value) ? 1 : 0)),
    posInf: values.map((value) => (value === Number.POSITIVE_INFINITY ? 1 : 0)),
    negInf: values.map((value) => (value === Number.NEGATIVE_INFINITY ? 1 : 0)),
    banded: false,
  };
}

export function finiteOrNull(value: number | null): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Points at one place, such as those of several workers at one step, are one row like a bucket of them. */
function foldEqual(series: Series): Series {
  const rows: number[][] = [];
  for (const [at, x] of series.x.entries()) {
    if (at > 0 && x === series.x[at - 1]) rows.at(-1)?.push(at);
    else rows.push([at]);
  }
  if (rows.length === series.x.length) return series;
  const firsts = <T>(column: readonly T[]): T[] => rows.map(([first]) => column[first as number] as T);
  const lasts = <T>(column: readonly T[]): T[] => rows.map((row) => column[row.at(-1) as number] as T);
  const sums = (column: readonly number[]): number[] =>
    rows.map((row) => row.reduce((sum, at) => sum + (column[at] ?? 0), 0));
  const finite = (column: readonly (number | null)[], fold: (values: number[]) => number): (number | null)[] =>
    rows.map((row) => {
      const values = row.flatMap((at) => column[at] ?? []);
      return values.length === 0 ? null : fold(values);
    });
  return {
    ...series,
    x: firsts(series.x),
    x_last: lasts(series.x_last),
    t: firsts(series.t),
    t_last: lasts(series.t_last),
    first: firsts(series.first),
    last: lasts(series.last),
    min: finite(series.min, (values) => values.reduce((a, b) => Math.min(a, b))),
    max: finite(series.max, (values) => values.reduce((a, b) => Math.max(a, b))),
    // Each row was one point, so its greatest value is its value.
    mean: finite(series.max, (values) => values.reduce((a, b) => a + b) / values.length),
    count: sums(series.count),
    nan: sums(series.nan),
    pos_inf: sums(series.pos_inf),
    neg_inf: sums(series.neg_inf),
  };
}

/** A bucket whose last point is not finite is drawn at its greatest finite value, and marked. */
function finiteOr(value: Float | null, otherwise: number | null): number | null {
  return typeof value === "number" ? value : otherwise;
}

/** The row whose stretch holds a value, else the one whose stretch is nearest; −1 when there is none. */
export function nearestStretch(starts: readonly number[], ends: readonly number[], value: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  const before = low - 1;
  if (before < 0) return starts.length === 0 ? -1 : 0;
  if (low === starts.length) return before;
  const behind = value - Math.max(starts[before] ?? 0, ends[before] ?? 0);
  return behind <= (starts[low] ?? 0) - value ? before : low;
}

export function rowAtTime(series: PlotSeries, t: number): number {
  return nearestStretch(series.t, series.tLast, t);
}

export interface AlignedColumns {
  readonly x: number[];
  /** For each series, the row of each x in it, or −1. */
  readonly rows: Int32Array[];
}

/** The union of all positions, ascending, and where each series stands in it. */
export function alignSeries(list: readonly PlotSeries[]): AlignedColumns {
  if (list.length === 1 && list[0] !== undefined) {
    return { x: list[0].x, rows: [Int32Array.from(list[0].x, (_, i) => i)] };
  }
  const x = [...new Set(list.flatMap((series) => series.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, i) => [value, i]));
  const rows = list.map((series) => {
    const row = new Int32Array(x.length).fill(-1);
    series.x.forEach((value, i) => {
      row[place.get(value) ?? 0] = i;
    });
    return row;
  });
  return { x, rows };
}

/** Values of one column on the shared positions: null where the series has a gap of its own, undefined where it has no row. */
export function pickColumn(values: readonly (number | null)[], rows: Int32Array): (number | null | undefined)[] {
  return Array.from(rows, (row) => (row < 0 ? undefined : (values[row] ?? null)));
}

export interface NonFiniteMark {
  readonly x: number;
  readonly kind: "nan" | "up" | "down";
  readonly count: number;
}

export function nonFiniteMarks(series: PlotSeries): NonFiniteMark[] {
  const marks: NonFiniteMark[] = [];
  series.x.forEach((x, i) => {
    const nan = series.nan[i] ?? 0;
    const up = series.posInf[i] ?? 0;
    const down = series.negInf[i] ?? 0;
    if (nan > 0) marks.push({ x, kind: "nan", count: nan });
    if (up > 0) marks.push({ x, kind: "up", count: up });
    if (down > 0) marks.push({ x, kind: "down", count: down });
  });
  return marks;
}
