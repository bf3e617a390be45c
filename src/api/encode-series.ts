// A series as the JSON of the contract. Floats that are no JSON numbers are words.

import type { Buckets } from "#query/series/buckets.ts";
import type { Series } from "#query/series/series.ts";
import { type SeriesColumn, seriesColumns } from "./contract/series.ts";

const encoders: Readonly<Record<SeriesColumn, (buckets: Buckets) => string>> = {
  x: (buckets) => JSON.stringify(buckets.x),
  x_last: (buckets) => JSON.stringify(buckets.xLast),
  t: (buckets) => JSON.stringify(buckets.t),
  t_last: (buckets) => JSON.stringify(buckets.tLast),
  count: (buckets) => JSON.stringify(buckets.count),
  first: (buckets) => floats(buckets.first),
  last: (buckets) => floats(buckets.last),
  min: (buckets) => floats(buckets.min),
  max: (buckets) => floats(buckets.max),
  mean: (buckets) => floats(buckets.mean),
  nan: (buckets) => counts(buckets.nan),
  pos_inf: (buckets) => counts(buckets.posInf),
  neg_inf: (buckets) => counts(buckets.negInf),
};

/** `wanted` columns; the others are empty. */
export function encodeSeries(
  { run, key, phase, worker, buckets }: Series,
  byWorker: boolean,
  wanted: readonly SeriesColumn[] = seriesColumns,
): Uint8Array[] {
  const text = JSON.stringify;
  const columns = seriesColumns.map((name) => `"${name}":${wanted.includes(name) ? encoders[name](buckets) : "[]"}`);
  const head = `{"run":${text(run)},"key":${text(key)},"phase":${text(phase)},"worker":${byWorker ? text(worker) : "null"}`;
  const rest =
    `,"points":${buckets.points},"exact":${buckets.exact},"x_base":"${buckets.xBase}",` +
    `"t_base":"${buckets.tBase}",${columns.join(",")}}`;
  // The second piece is ASCII only, which makes it quick to encode.
  return [Buffer.from(head), Buffer.from(rest, "latin1")];
}

/** Mostly zeros, since most points are finite: JSON.stringify takes far longer. */
function counts(values: readonly number[]): string {
  if (values.every((count) => count === 0))
    return `[${"0,".repeat(Math.max(0, values.length - 1))}${values.length === 0 ? "" : "0"}]`;
  return JSON.stringify(values);
}

function floats(values: readonly (number | null)[]): string {
  return values.every(isPlain) ? JSON.stringify(values) : `[${values.map(formatFloat).join(",")}]`;
}

/** Whether JSON.stringify writes the value as it is; -0 it would write as 0. */
function isPlain(value: number | null): boolean {
  return value === null || (value - value === 0 && (value !== 0 || 1 / value > 0));
}

function formatFloat(value: number | null): string {
  if (value === null) return "null";
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}
