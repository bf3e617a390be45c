// Params and metric summaries of many runs at once: narrow reads by name over a whole workspace or some groups.

import { lastBlockSql, readCopiedTo } from "#store/metrics-by-key.ts";
import type { Store } from "#store/store.ts";
import { cellBytesMax, cutJson } from "./cut-text.ts";
import { type GroupScope, inScope, scopeParams } from "./group-scope.ts";
import { big, flag, float, int, nullable, type RowOf, readRows, senderNs, text } from "./native-rows.ts";

/** `value` is strict JSON text, cut when it is long. */
const paramCell = { groupKey: text, name: text, value: text, num: nullable(float), tsNs: senderNs };
export type ParamCell = RowOf<typeof paramCell>;

/** Of a group with more params, the first by name are read when all are asked for. */
export const paramsMax = 10_000;

/** The latest value of each param of each group; `name` null stands for all of them, up to `paramsMax`. */
export function readParamCells(store: Store, scope: GroupScope, name: string | null): Promise<ParamCell[]> {
  const place = "(p.ts_ns, p.seq, p.worker)";
  return readRows(store, paramCell, {
    sql: `SELECT group_key AS groupKey, name, argMax(${cutJson("p.value", cellBytesMax)}, ${place}) AS value,
        argMax(tuple(p.value_num), ${place}).1 AS num, max(p.ts_ns) AS tsNs
      FROM ${store.database}.${name === null ? "params" : "param_by_key"} AS p
      WHERE ${inScope("group_key", scope)} ${name === null ? "" : "AND name = {name:String}"} GROUP BY group_key, name
      ${name === null ? `ORDER BY name LIMIT ${paramsMax} BY group_key` : ""}`,
    params: { ...scopeParams(scope), ...(name === null ? {} : { name }) },
  });
}

/** Which point of a series: the minimum and the maximum are over finite values. */
export type PointStat = "first" | "last" | "min" | "max";

/** A point is (value, value_text, step, epoch, ts_ns); the least and the greatest have no place in their series. */
const pointOf = (state: string): string =>
  `(${state} AS point).1 AS value, point.2 AS text, point.3 AS step, point.5 AS tsNs`;
const extremeOf = (value: string): string =>
  `${value} AS value, '' AS text, CAST(NULL, 'Nullable(Int64)') AS step, toInt64(0) AS tsNs`;
const statSql: Readonly<Record<PointStat, string>> = {
  first: pointOf("argMinMerge(first)"),
  last: pointOf("argMaxMerge(last)"),
  min: extremeOf("min(min_value)"),
  max: extremeOf("max(max_value)"),
};

const metricCell = {
  groupKey: text,
  phase: text,
  worker: text,
  value: nullable(float),
  /** The exact text if the number is not exact. */
  text,
  step: nullable(big),
  tsNs: senderNs,
  /** Whether any point of the series is NaN or ±Infinity. */
  hasNonfinite: flag,
};
export type MetricCell = RowOf<typeof metricCell>;

/** One point of every series of a key. */
export async function readMetricCells(
  store: Store,
  scope: GroupScope,
  key: string,
  stat: PointStat,
): Promise<MetricCell[]> {
  const states = "group_key, phase, worker, first, last, min_value, max_value, nonfinite";
  const from = (table: string, more = ""): string =>
    `SELECT ${states} FROM ${store.database}.${table} WHERE ${inScope("group_key", scope)} AND key = {key:String}${more}`;
  // Read before the rows: what is copied in between is read twice, and nothing is left out.
  const copiedTo = store.kind === "embedded" ? await readCopiedTo(store) : null;
  const rest = copiedTo === null ? "" : ` UNION ALL ${from("metric_summary", ` AND ${lastBlockSql} > ${copiedTo}`)}`;
  return readRows(store, metricCell, {
    sql: `SELECT group_key AS groupKey, phase, worker, ${statSql[stat]}, max(nonfinite) AS hasNonfinite
      FROM (${from("metric_by_key")}${rest}) GROUP BY group_key, phase, worker`,
    params: { ...scopeParams(scope), key },
  });
}

const metricCount = { groupKey: text, key: text, phase: text, count: int, nonfinite: int };
export type MetricCount = RowOf<typeof metricCount>;

/** How many points every series has; `keys` null stands for all metrics. */
export function readMetricCounts(store: Store, scope: GroupScope, keys: readonly string[] | null) {
  return readRows(store, metricCount, {
    sql: `SELECT group_key AS groupKey, key, phase, toUInt32(count()) AS count,
        toUInt32(countIf(isNotNull(value) AND NOT isFinite(assumeNotNull(value)))) AS nonfinite
      FROM ${store.database}.metrics WHERE ${inScope("group_key", scope)}
        ${keys === null ? "" : "AND key IN {keys:Array(String)}"} GROUP BY group_key, key, phase`,
    params: { ...scopeParams(scope), ...(keys === null ? {} : { keys }) },
  });
}
