// Parallel coordinates: every run is a line across axes, one axis per parameter or metric. Pure maths.

import type { CompareAnswer } from "#api/contract/compare.ts";
import { largestOf } from "#base/extremes.ts";
import { panelTitle } from "../../chart/metric-groups.ts";
import { extentOf, type Range } from "../../chart/scale.ts";
import { valueTicks } from "../../chart/ticks.ts";
import { toNumber } from "../../text/format-number.ts";

interface AxisName {
  readonly name: string;
  readonly label: string;
  readonly kind: "param" | "metric";
}

export interface ParallelAxis extends AxisName {
  /** Position 0…1 of each run on the axis, bottom to top; null where a run has no value. */
  readonly places: readonly (number | null)[];
  readonly ticks: readonly { readonly place: number; readonly text: string }[];
  /** In their order, where the values are words; null for numbers on a scale. */
  readonly words: readonly string[] | null;
  /** Value of each run as text. */
  readonly texts: readonly string[];
}

/** Axes worth drawing: parameters that differ, then the last values of metrics. */
export function toAxes(compare: CompareAnswer, format: (value: number) => string): ParallelAxis[] {
  const params = compare.params
    .filter((row) => row.differs)
    .map(({ name, values }) => {
      return axisOf({ name: `params.${name}`, label: name, kind: "param" }, values.map(parseValue), format);
    });
  const metrics = compare.metrics
    .filter((row) => row.last.some((value) => value !== null))
    .map((row) => {
      const named = { name: `metrics.${row.key}@${row.phase}`, label: panelTitle(row), kind: "metric" } as const;
      return axisOf(named, row.last.map(toNumber), format);
    });
  return [...params, ...metrics];
}

/** Axes with at least half as many runs as the fullest one: an axis that few runs have hides the others. */
export function sharedAxes(axes: readonly ParallelAxis[]): ParallelAxis[] {
  const most = largestOf([0, ...axes.map(placedOn)]);
  return axes.filter((axis) => placedOn(axis) * 2 >= most);
}

function placedOn(axis: ParallelAxis): number {
  return axis.places.filter((place) => place !== null).length;
}

/** The comparison of some of its runs only. */
export function keepRuns(compare: CompareAnswer, keep: (run: number) => boolean): CompareAnswer {
  const kept = <T>(list: readonly T[]) => list.filter((_, i) => keep(i));
  return {
    ...compare,
    runs: kept(compare.runs),
    params: compare.params.map((row) => ({ ...row, values: kept(row.values) })),
    metrics: compare.metrics.map((row) => ({
      ...row,
      last: kept(row.last),
      min: kept(row.min),
      max: kept(row.max),
      nonfinite: kept(row.nonfinite),
    })),
  };
}

type Value = number | string | null;

function parseValue(json: string | null): Value {
  if (json === null) return null;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "number" ? value : typeof value === "string" ? value : json;
  } catch {
    return json;
  }
}

function axisOf(named: AxisName, values: readonly Value[], format: (value: number) => string): ParallelAxis {
  const texts = values.map((value) => (value === null ? "–" : typeof value === "number" ? format(value) : value));
  const numbers = values.filter((value): value is number => typeof value === "number" && Number.isFinite(value));
  if (values.some((value) => typeof value === "string")) return wordAxis(named, values, texts);
  const range = extentOf(numbers) ?? { min: 0, max: 1 };
  const log = isWide(numbers, range);
  const place = (value: number) => placeOf(value, range, log);
  return {
    ...named,
    label: log ? `${named.label} (log)` : named.label,
    words: null,
    texts,
    places: values.map((value) => (typeof value === "number" && Number.isFinite(value) ? place(value) : null)),
    ticks: tickValues(numbers, range, log).map((value) => ({ place: place(value), text: format(value) })),
  };
}

/** Values over more than two orders of magnitude are read on a logarithmic axis: learning rates, mostly. */
function isWide(numbers: readonly number[], range: Range): boolean {
  return numbers.length > 1 && range.min > 0 && range.max / range.min >= 50;
}

function placeOf(value: number, range: Range, log: boolean): number {
  if (range.max === range.min) return 0.5;
  if (log) return Math.log(value / range.min) / Math.log(range.max / range.min);
  return (value - range.min) / (range.max - range.min);
}

/** Values that are few are marked themselves; marks nearer to each other than this would lie on one another. */
const ownValuesMax = 6;
const nearest = 0.045;

/** Both ends, and between them the values that there are, or round ones where they are many. */
function tickValues(numbers: readonly number[], range: Range, log: boolean): number[] {
  const place = (value: number) => placeOf(value, range, log);
  const own = [...new Set(numbers)];
  const between = own.length <= ownValuesMax ? own : valueTicks(log ? "log" : "linear", range, 1, 5);
  const ticks = range.max === range.min ? [range.min] : [range.min, range.max];
  for (const value of between)
    if (ticks.every((tick) => Math.abs(place(tick) - place(value)) > nearest)) ticks.push(value);
  return ticks.sort((a, b) => a - b);
}

function wordAxis(named: AxisName, values: readonly Value[], texts: readonly string[]): ParallelAxis {
  const words = [...new Set(texts.filter((_, i) => values[i] !== null))].sort();
  const place = (word: string) => (words.length === 1 ? 0.5 : words.indexOf(word) / (words.length - 1));
  return {
    ...named,
    words,
    texts,
    places: values.map((value, i) => (value === null ? null : place(texts[i] ?? ""))),
    ticks: words.slice(0, 12).map((word) => ({ place: place(word), text: word })),
  };
}

export type Brushes = Readonly<Record<string, readonly [number, number]>>;

/** Which runs pass every brush. A run without a value on a brushed axis does not. */
export function passBrushes(axes: readonly ParallelAxis[], brushes: Brushes, runs: number): boolean[] {
  return Array.from({ length: runs }, (_, run) =>
    axes.every((axis) => {
      const brush = brushes[axis.name];
      const place = axis.places[run];
      return brush === undefined || (place !== null && place !== undefined && place >= brush[0] && place <= brush[1]);
    }),
  );
}
