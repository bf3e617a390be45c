// What runs are judged by, gathered in the engine: each answer is a few rows, however long the run is.

import { tieOf } from "#store/point-order.ts";
import type { Store } from "#store/store.ts";
import { inGroups } from "./group-scope.ts";
import {
  big,
  count,
  float,
  int,
  nullable,
  type RowOf,
  readRow,
  readRows,
  readValue,
  senderNs,
  text,
} from "./native-rows.ts";

const isOdd = "(isNotNull(value) AND NOT isFinite(assumeNotNull(value)))";

const nonfiniteRow = {
  key: text,
  phase: text,
  points: int,
  nonfinite: int,
  first_step: nullable(big),
  first_ns: senderNs,
  first_span: text,
  last_finite_ns: nullable(senderNs),
};

/** Metrics some of whose points are not finite, with the first of these. */
export function readNonfinite(store: Store, groups: readonly string[]): Promise<RowOf<typeof nonfiniteRow>[]> {
  const place = `(m.ts_ns, ${tieOf("m")}, m.entry, m.worker)`;
  return readRows(store, nonfiniteRow, {
    sql: `SELECT toString(key) AS key, toString(phase) AS phase, toUInt32(count()) AS points,
        toUInt32(countIf(${isOdd})) AS nonfinite, argMinIf(tuple(step), ${place}, ${isOdd}).1 AS first_step,
        minIf(ts_ns, ${isOdd}) AS first_ns, argMinIf(span_id, ${place}, ${isOdd}) AS first_span,
        maxOrNullIf(ts_ns, isFinite(ifNull(value, nan))) AS last_finite_ns
      FROM ${store.database}.metrics AS m WHERE ${inGroups} GROUP BY key, phase HAVING nonfinite > 0
      ORDER BY first_ns, key, phase LIMIT 50`,
    params: { groups },
  });
}

/** The step that a span is or lies in; null when that is not known. */
export function readStepOfSpan(store: Store, groups: readonly string[], spanId: string): Promise<bigint | null> {
  const spans = `SELECT span_id, ifNull(parent_id, '') AS parent, toString(name) AS name, index
    FROM ${store.database}.spans WHERE ${inGroups}`;
  return readValue(store, nullable(big), {
    sql: `SELECT multiIf(a.name = 'step', a.index, b.name = 'step', b.index, NULL)
      FROM (${spans} AND span_id = {span:String}) AS a LEFT JOIN (${spans}) AS b ON b.span_id = a.parent LIMIT 1`,
    params: { groups, span: spanId },
  });
}

const badTensorRow = { tensor: text, ts_ns: senderNs, span_id: text };

/** The snapshot in which a value that is not finite was seen first. */
export function readFirstBadTensor(store: Store, groups: readonly string[]) {
  return readRow(store, badTensorRow, {
    sql: `SELECT toString(tensor_name) AS tensor, ts_ns, span_id FROM ${store.database}.snapshots
      WHERE ${inGroups} AND arrayExists(value -> NOT isFinite(ifNull(value, 0)), [norm, mean, min, max])
      ORDER BY ts_ns, tensor_name LIMIT 1`,
    params: { groups },
  });
}

const stepTimesRow = { rank: int, steps: int, step_ns: float, cycle_ns: nullable(float), total_ns: float };

/** Per rank, by medians: how long a step takes, and how long it is until the next one starts. */
export function readStepTimes(store: Store, groups: readonly string[], step: string) {
  return readRows(store, stepTimesRow, {
    sql: `SELECT rank, toUInt32(count()) AS steps, toFloat64(quantileExactLow(0.5)(end_ns - start_ns)) AS step_ns,
        toFloat64(quantileExactLowOrNullIf(0.5)(next_ns - start_ns, next_ns > start_ns)) AS cycle_ns,
        toFloat64(max(end_ns) - min(start_ns)) AS total_ns
      FROM (SELECT rank, start_ns, end_ns, leadInFrame(start_ns) OVER (
          PARTITION BY rank ORDER BY start_ns ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS next_ns
        FROM ${store.database}.spans WHERE ${inGroups} AND name = {step:String})
      GROUP BY rank ORDER BY steps DESC, rank`,
    params: { groups, step },
  });
}

const dataTimeRow = { name: text, median_ns: float, total_ns: float };

/** What spans of these names say in `data_load_ns`: the length of a wait of which they are only the end. */
export function readDataTimes(store: Store, groups: readonly string[], rank: number, names: string) {
  return readRows(store, dataTimeRow, {
    sql: `SELECT toString(name) AS name, toFloat64(quantileExactLow(0.5)(said)) AS median_ns, toFloat64(sum(said)) AS total_ns
      FROM (SELECT name, JSONExtractInt(attrs, 'data_load_ns') AS said FROM ${store.database}.spans
        WHERE ${inGroups} AND rank = {rank:Int32} AND match(toString(name), {names:String})) WHERE said > 0 GROUP BY name`,
    params: { groups, rank, names },
  });
}

const windowRow = { worker: text, window: int, steps: int, mean: float };
export type WindowRow = RowOf<typeof windowRow>;

/** Mean step of each rank in equal parts of the run's time, without spans inside it that only wait for others. */
export function readRankWindows(
  store: Store,
  groups: readonly string[],
  { step, waits, windows }: { readonly step: string; readonly waits: string; readonly windows: number },
): Promise<WindowRow[]> {
  const { database } = store;
  return readRows(store, windowRow, {
    sql: `WITH (SELECT (min(start_ns), max(end_ns) + 1) FROM ${database}.spans WHERE ${inGroups} AND name = {step:String}) AS bounds
      SELECT toString(rank) AS worker, assumeNotNull(toInt32(intDiv((start_ns - bounds.1) * {windows:Int32}, greatest(bounds.2 - bounds.1, 1)))) AS window,
        toUInt32(countIf(name = {step:String})) AS steps,
        (sumIf(end_ns - start_ns, name = {step:String}) - sumIf(end_ns - start_ns, name != {step:String})) / greatest(steps, 1) AS mean
      FROM ${database}.spans WHERE ${inGroups} AND start_ns >= bounds.1 AND (name = {step:String} OR match(toString(name), {waits:String}))
      GROUP BY rank, window ORDER BY window, rank`,
    params: { groups, step, waits, windows },
  });
}

/** The same from a metric that each worker reports. */
export function readMetricWindows(store: Store, groups: readonly string[], key: string, windows: number) {
  const { database } = store;
  const own = `${inGroups} AND key = {key:String} AND isFinite(ifNull(value, nan))`;
  return readRows(store, windowRow, {
    sql: `WITH (SELECT (min(ts_ns), max(ts_ns) + 1) FROM ${database}.metrics WHERE ${own}) AS bounds
      SELECT toString(worker) AS worker, assumeNotNull(toInt32(intDiv((ts_ns - bounds.1) * {windows:Int32}, greatest(bounds.2 - bounds.1, 1)))) AS window,
        toUInt32(count()) AS steps, assumeNotNull(avg(value)) AS mean
      FROM ${database}.metrics WHERE ${own} GROUP BY worker, window ORDER BY window, worker`,
    params: { groups, key, windows },
  });
}

const meanRow = { key: text, points: count, mean: float };

/** Of the finite points of these metrics. */
export function readMeans(store: Store, groups: readonly string[], keys: readonly string[]) {
  return readRows(store, meanRow, {
    sql: `SELECT toString(key) AS key, toInt64(count()) AS points, assumeNotNull(avg(value)) AS mean FROM ${store.database}.metrics
      WHERE ${inGroups} AND key IN {keys:Array(String)} AND isFinite(ifNull(value, nan)) GROUP BY key`,
    params: { groups, keys },
  });
}
