// A series as the JSON of the contract. Floats that are no JSON numbers are words.

import type { Series } from "#query/series/series.ts";

export function encodeSeries({ run, key, phase, worker, buckets }: Series, byWorker: boolean): Uint8Array[] {
  const text = JSON.stringify;
  const columns = {
    x: integers(buckets.x),
    x_last: integers(buckets.xLast),
    t_base: `"${buckets.tBase}"`,
    t: integers(buckets.t),
    t_last: integers(buckets.tLast),
    count: integers(buckets.count),
    first: floats(buckets.first),
    last: floats(buckets.last),
    min: floats(buckets.min),
    max: floats(buckets.max),
    mean: floats(buckets.mean),
    nan: counts(buckets.nan),
    pos_inf: counts(buckets.posInf),
    neg_inf: counts(buckets.negInf),
  };
  const head = `{"run":${text(run)},"key":${text(key)},"phase":${text(phase)},"worker":${byWorker ? text(worker) : "null"}`;
  const rest = `,"points":${buckets.points},"exact":${buckets.exact},"x_base":"${buckets.xBase}",${Object.entries(
    columns,
  )
    .map(([name, json]) => `"${name}":${json}`)
    .join(",")}}`;
  // The second piece is ASCII only, which makes it quick to encode.
  return [Buffer.from(head), Buffer.from(rest, "latin1")];
}

function integers(values: readonly number[]): string {
  return JSON.stringify(values);
}

/** Mostly all points are finite. */
function counts(values: readonly number[]): string {
  if (values.every((count) => count === 0))
    return `[${"0,".repeat(Math.max(0, values.length - 1))}${values.length === 0 ? "" : "0"}]`;
  return JSON.stringify(values);
}

function floats(values: readonly (number | null)[]): string {
  return values.every(isPlain) ? JSON.stringify(values) : `[${values.map(formatFloat).join(",")}]`;
}

/** What JSON.stringify writes as it is: it would write -0 as 0. */
function isPlain(value: number | null): boolean {
  return value === null || (value - value === 0 && (value !== 0 || 1 / value > 0));
}

function formatFloat(value: number | null): string {
  if (value === null) return "null";
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}
