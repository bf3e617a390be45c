// Series out of the metrics table, bucketed by the engine and written by it in the shape of the API: the rows
// go to the client as they come, without being parsed here.
//
// A bucket keeps its first, last, least and greatest point and counts what is not finite, so that no extreme
// is ever sampled away. Buckets divide the window evenly by position, which makes the same request over the
// same data give the same answer. A series with no more points than buckets is returned point by point.

import type { ParamValue } from "#store/params.ts";
import type { Query } from "#store/store.ts";

export type SeriesAxis = "step" | "epoch" | "time" | "relative";

export interface SeriesRequest {
  /** The groups of every run that is asked for. */
  readonly groups: readonly { readonly groupKey: string; readonly run: string; readonly worker: string | null }[];
  readonly keys: readonly string[];
  readonly axis: SeriesAxis;
  readonly buckets: number;
  readonly byWorker: boolean;
  readonly worker: string | null;
  readonly phase: string | null;
  /** In the axis' unit, both ends included. */
  readonly from: bigint | null;
  readonly to: bigint | null;
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

/** One row a series, its columns named and typed as the API says. */
export function seriesQuery(database: string, request: SeriesRequest): Query {
  const points = pointsSql(database, request);
  const series = "run, key, phase, worker";
  return {
    sql: `WITH
  points AS (${points}),
  bounds AS (
    SELECT ${series}, count() AS n, min(x) AS lo, max(x) AS hi, min(ts_ns) AS t_lo FROM points GROUP BY ${series}),
  placed AS (
    SELECT p.*, b.n AS n, b.lo AS lo, b.t_lo AS t_lo,
      if(b.n <= {buckets:UInt32}, toUInt32(0),
        least(toUInt32({buckets:UInt32} - 1), toUInt32(floor((toFloat64(p.x) - toFloat64(b.lo))
          / greatest(toFloat64(b.hi) - toFloat64(b.lo) + 1, 1) * {buckets:UInt32})))) AS even
    FROM points AS p INNER JOIN bounds AS b ON p.run = b.run AND p.key = b.key AND p.phase = b.phase AND p.worker = b.worker),
  numbered AS (
    SELECT *, if(n <= {buckets:UInt32},
      toUInt32(row_number() OVER (PARTITION BY ${series} ORDER BY x, ts_ns, seq, entry, mark_id)), even) AS bucket
    FROM placed),
  buckets AS (
    SELECT ${series}, bucket, any(n) AS n, any(lo) AS lo, any(t_lo) AS t_lo, count() AS c,
      min(x) AS x1, max(x) AS x2,
      argMin(ts_ns, (x, ts_ns, seq, entry)) AS t1, argMax(ts_ns, (x, ts_ns, seq, entry)) AS t2,
      argMin(tuple(value), (x, ts_ns, seq, entry)).1 AS v1, argMax(tuple(value), (x, ts_ns, seq, entry)).1 AS v2,
      minOrNullIf(value, isFinite(value)) AS least_v, maxOrNullIf(value, isFinite(value)) AS greatest_v,
      countIf(isNaN(value)) AS nans, countIf(value = inf) AS pos, countIf(value = -inf) AS neg
    FROM numbered GROUP BY ${series}, bucket ORDER BY ${series}, x1, bucket)
SELECT run, key, phase, ${request.byWorker ? "worker" : "CAST(NULL, 'Nullable(String)') AS worker"},
  toUInt32(any(n)) AS points, toBool(any(n) <= {buckets:UInt32}) AS exact,
  any(lo) AS x_base, groupArray(toFloat64(x1 - lo)) AS x, groupArray(toFloat64(x2 - lo)) AS x_last,
  any(t_lo) AS t_base, groupArray(toFloat64(t1 - t_lo)) AS t, groupArray(toFloat64(t2 - t_lo)) AS t_last,
  groupArray(toUInt32(c)) AS count,
  arrayMap(v -> v.1, groupArray(tuple(v1))) AS first, arrayMap(v -> v.1, groupArray(tuple(v2))) AS last,
  arrayMap(v -> v.1, groupArray(tuple(least_v))) AS min, arrayMap(v -> v.1, groupArray(tuple(greatest_v))) AS max,
  groupArray(toUInt32(nans)) AS nan, groupArray(toUInt32(pos)) AS pos_inf, groupArray(toUInt32(neg)) AS neg_inf
FROM buckets GROUP BY ${series} ORDER BY ${series}`,
    params: seriesParams(request),
  };
}

/** All points of the request with their position on the axis. */
function pointsSql(database: string, request: SeriesRequest): string {
  const x = { step: "at_step", epoch: "at_epoch", time: "ts_ns", relative: "ts_ns - run_start" }[request.axis];
  const worker = request.byWorker ? "at_worker" : "''";
  const conditions = [
    `isNotNull(${x})`,
    request.from === null ? "" : `${x} >= {from:Int64}`,
    request.to === null ? "" : `${x} <= {to:Int64}`,
    request.fromNs === null ? "" : "ts_ns >= {from_ns:Int64}",
    request.toNs === null ? "" : "ts_ns <= {to_ns:Int64}",
    request.worker === null ? "" : "at_worker = {worker:String}",
    request.phase === null ? "" : "phase = {phase:String}",
  ].filter((condition) => condition !== "");
  return `SELECT run, key, phase, ${worker} AS worker, assumeNotNull(${x}) AS x, ts_ns, seq, entry, mark_id, value
    FROM (${placedPointsSql(database, request.axis)})
    WHERE ${conditions.join(" AND ")}`;
}

/**
 * A Cirron mark without a step of its own is at the step and epoch of the spans it lies in: the span's own index,
 * or that of an ancestor, looked for three levels up. Spans come after their marks, so this is done when reading.
 */
function placedPointsSql(database: string, axis: SeriesAxis): string {
  const from = `FROM ${database}.metrics AS m WHERE m.group_key IN {groups:Array(String)} AND m.key IN {keys:Array(String)}`;
  const run = "transform(toString(m.group_key), {groups:Array(String)}, {runs:Array(String)}, '')";
  const rank = "transform(toString(m.group_key), {groups:Array(String)}, {workers:Array(String)}, '')";
  const start =
    axis === "relative" ? `min(m.ts_ns) OVER (PARTITION BY ${run}) AS run_start` : "toInt64(0) AS run_start";
  const base = `${run} AS run, toString(m.key) AS key, toString(m.phase) AS phase,
      if(m.source = 'cirron', ${rank}, toString(m.worker)) AS at_worker, m.ts_ns AS ts_ns, m.seq AS seq,
      m.entry AS entry, m.mark_id AS mark_id, m.value AS value, ${start}`;
  if (axis === "time" || axis === "relative") return `SELECT ${base} ${from}`;
  return `SELECT ${base}, ${indexSql("step")} AS at_step, ${indexSql("epoch")} AS at_epoch
    FROM (SELECT * ${from}) AS m
    LEFT JOIN (${enclosingSql(database)}) AS e ON e.span_id = m.span_id`;
}

function indexSql(name: "step" | "epoch"): string {
  return `ifNull(m.${name}, if(m.span_id = '', NULL, e.${name}))`;
}

/** The step and epoch of every span that a mark without a step hangs on. */
function enclosingSql(database: string): string {
  const mine = "group_key IN {groups:Array(String)}";
  const columns = "span_id, ifNull(parent_id, '') AS parent_id, toString(name) AS name, index";
  const wanted = `SELECT span_id FROM ${database}.metrics WHERE ${mine} AND key IN {keys:Array(String)}
      AND span_id != '' AND (step IS NULL OR epoch IS NULL)`;
  const spans = `SELECT ${columns} FROM ${database}.spans WHERE ${mine}`;
  const pick = (name: string) =>
    `multiIf(a.name = '${name}', a.index, b.name = '${name}', b.index, c.name = '${name}', c.index, d.name = '${name}', d.index, NULL)`;
  return `SELECT a.span_id AS span_id, ${pick("step")} AS step, ${pick("epoch")} AS epoch
      FROM (${spans} AND span_id IN (${wanted})) AS a
      LEFT JOIN (${spans}) AS b ON b.span_id = a.parent_id
      LEFT JOIN (${spans}) AS c ON c.span_id = b.parent_id
      LEFT JOIN (${spans}) AS d ON d.span_id = c.parent_id`;
}

function seriesParams(request: SeriesRequest): Record<string, ParamValue> {
  return {
    groups: request.groups.map((group) => group.groupKey),
    runs: request.groups.map((group) => group.run),
    workers: request.groups.map((group) => group.worker ?? ""),
    keys: [...request.keys],
    buckets: request.buckets,
    ...(request.from === null ? {} : { from: request.from }),
    ...(request.to === null ? {} : { to: request.to }),
    ...(request.fromNs === null ? {} : { from_ns: request.fromNs }),
    ...(request.toNs === null ? {} : { to_ns: request.toNs }),
    ...(request.worker === null ? {} : { worker: request.worker }),
    ...(request.phase === null ? {} : { phase: request.phase }),
  };
}
