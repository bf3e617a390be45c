// Series out of the metrics table, bucketed by the engine and written by it in the shape of the API: the rows
// go to the client as they come, without being parsed here.
//
// A bucket keeps its first, last, least and greatest point and counts what is not finite, so that no extreme
// is ever sampled away. Buckets divide the window evenly by position, which makes the same request over the
// same data give the same answer. A series with no more points than buckets is returned point by point.

import type { SeriesRequest } from "#model/series-request.ts";
import type { ParamValue } from "#store/params.ts";
import type { Query, Store } from "#store/store.ts";
import { enclosingSql } from "./enclosing.ts";

/** One row a series as a line of JSON, its columns named and typed as the API says. */
export async function* readSeries(
  store: Store,
  request: SeriesRequest,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const bounds = await store.query<Bounds>(boundsQuery(store.database, request), { signal });
  if (bounds.length > 0)
    yield* store.stream(bucketsQuery(store.database, request, bounds), { format: "objects", signal });
}

/** What a first pass over the points says of each series. 64-bit integers are text. */
interface Bounds {
  readonly run: string;
  readonly key: string;
  readonly phase: string;
  readonly worker: string;
  readonly n: number;
  readonly positions: number;
  /** Points that are no number. */
  readonly odd: number;
  readonly x: readonly [string, string];
  readonly ts_ns: readonly [string, string];
  readonly seq: readonly [string, string];
  readonly entry: readonly [number, number];
}

function boundsQuery(database: string, request: SeriesRequest): Query {
  const range = (name: string) => `[min(p.${name}), max(p.${name})] AS ${name}`;
  return {
    sql: `SELECT run, key, phase, worker, toUInt32(count()) AS n,
  ${request.byPosition ? "toUInt32(uniqExact(p.x))" : "toUInt32(0)"} AS positions, toUInt32(countIf(isNull(value))) AS odd,
  ${["x", "ts_ns", "seq", "entry"].map(range).join(", ")}
FROM (${pointsSql(database, request)}) AS p GROUP BY run, key, phase, worker ORDER BY run, key, phase, worker`,
    params: seriesParams(request),
  };
}

/** Points with no more than this many in their series are returned one by one. */
function bucketsQuery(database: string, request: SeriesRequest, bounds: readonly Bounds[]): Query {
  const of = (name: string, type: string) => `arrayElement({${name}:Array(${type})}, series)`;
  const { first, last } = endsSql(bounds);
  return {
    sql: `SELECT ${of("s_run", "String")} AS run, ${of("s_key", "String")} AS key, ${of("s_phase", "String")} AS phase,
  ${request.byWorker ? of("s_worker", "String") : "CAST(NULL, 'Nullable(String)')"} AS worker,
  ${of("s_n", "UInt32")} AS points, toBool(${request.byPosition ? "0" : "points <= {buckets:UInt32}"}) AS exact,
  ${of("s_lo", "Int64")} AS x_base, groupArray(toFloat64(x1 - x_base)) AS x, groupArray(toFloat64(x2 - x_base)) AS x_last,
  ${of("s_from", "Int64")} AS t_base, groupArray(toFloat64(t1 - t_base)) AS t, groupArray(toFloat64(t2 - t_base)) AS t_last,
  groupArray(toUInt32(c)) AS count,
  arrayMap(v -> v.1, groupArray(tuple(v1))) AS first, arrayMap(v -> v.1, groupArray(tuple(v2))) AS last,
  arrayMap(v -> v.1, groupArray(tuple(least_v))) AS min, arrayMap(v -> v.1, groupArray(tuple(greatest_v))) AS max,
  arrayMap(v -> v.1, groupArray(tuple(mean_v))) AS mean,
  groupArray(toUInt32(nans)) AS nan, groupArray(toUInt32(pos)) AS pos_inf, groupArray(toUInt32(neg)) AS neg_inf
FROM (
  SELECT series, bucket, count() AS c, min(place) AS from_place, min(x) AS x1, max(x) AS x2,
    argMin(ts_ns, place) AS t1, argMax(ts_ns, place) AS t2, ${first} AS v1, ${last} AS v2,
    minOrNullIf(value, isFinite(value)) AS least_v, maxOrNullIf(value, isFinite(value)) AS greatest_v,
    avgOrNullIf(value, isFinite(value)) AS mean_v, countIf(isNaN(value)) AS nans, countIf(value = inf) AS pos, countIf(value = -inf) AS neg
  FROM (
    SELECT ${seriesSql(bounds)} AS series, x, ts_ns, value, ${placeSql(request, bounds)} AS place,
      ${bucketSql(request, bounds)} AS bucket
    FROM (${pointsSql(database, request)}) WHERE series > 0)
  GROUP BY series, bucket ORDER BY series, from_place)
GROUP BY series ORDER BY series`,
    params: { ...seriesParams(request), ...boundsParams(bounds) },
  };
}

function boundsParams(bounds: readonly Bounds[]): Record<string, ParamValue> {
  return {
    s_run: bounds.map(({ run }) => run),
    s_key: bounds.map(({ key }) => key),
    s_phase: bounds.map(({ phase }) => phase),
    s_worker: bounds.map(({ worker }) => worker),
    s_id: bounds.map(idOf),
    s_number: bounds.map((_, at) => at + 1),
    s_n: bounds.map(({ n }) => n),
    s_positions: bounds.map(({ positions }) => positions),
    s_lo: bounds.map(({ x }) => BigInt(x[0])),
    s_hi: bounds.map(({ x }) => BigInt(x[1])),
    s_from: bounds.map(({ ts_ns }) => BigInt(ts_ns[0])),
  };
}

function idOf({ run, key, phase, worker }: Bounds): string {
  return [run, key, phase, worker].join("\n");
}

/** The number of a point's series, from 1. Mostly a run has one, and its name is enough. */
function seriesSql(bounds: readonly Bounds[]): string {
  if (bounds.length === 1) return "toUInt32(1)";
  const byRun = new Set(bounds.map(({ run }) => run)).size === bounds.length;
  const [id, ids] = byRun ? ["run", "s_run"] : ["concat(run, '\\n', key, '\\n', phase, '\\n', worker)", "s_id"];
  return `transform(${id}, {${ids}:Array(String)}, {s_number:Array(UInt32)}, toUInt32(0))`;
}

/** Where a point lies in its series: (x, ts_ns, seq, entry) packed into the smallest integer that holds their ranges.
 * Comparing tuples takes the engine twenty times as long. */
function placeSql({ axis }: SeriesRequest, bounds: readonly Bounds[]): string {
  const isTime = axis === "time" || axis === "relative";
  const names = isTime ? (["x", "seq", "entry"] as const) : (["x", "ts_ns", "seq", "entry"] as const);
  const parts = names.map((name) => {
    const lo = bounds.reduce((least, one) => min(least, BigInt(one[name][0])), 2n ** 63n);
    const hi = bounds.reduce((most, one) => max(most, BigInt(one[name][1])), -(2n ** 63n));
    return { name, lo, bits: hi === lo ? 0 : (hi - lo).toString(2).length };
  });
  const bits = parts.reduce((sum, part) => sum + part.bits, 0);
  const type = bits <= 62 ? "toInt64" : bits <= 126 ? "toInt128" : "toInt256";
  let shift = bits;
  const sql = parts.flatMap((part) => {
    shift -= part.bits;
    return part.bits === 0 ? [] : [`bitShiftLeft(${type}(${part.name}) - ${type}('${part.lo}'), ${shift})`];
  });
  return sql.length === 0 ? "toInt64(0)" : sql.join(" + ");
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Even shares of the series' range; a point of a short series has a bucket of its own. */
function bucketSql({ buckets, byPosition }: SeriesRequest, bounds: readonly Bounds[]): string {
  const own = byPosition ? "cityHash64(x)" : "cityHash64(place, at_worker, mark_id)";
  const sizeOf = (one: Bounds) => (byPosition ? one.positions : one.n);
  const isShort = (one: Bounds) => sizeOf(one) <= buckets;
  if (bounds.every(isShort)) return own;
  const lo = "toFloat64(arrayElement({s_lo:Array(Int64)}, series))";
  const hi = "toFloat64(arrayElement({s_hi:Array(Int64)}, series))";
  const share = `(toFloat64(x) - ${lo}) / greatest(${hi} - ${lo} + 1, toFloat64(1))`;
  const even = `toUInt64(least(toFloat64({buckets:UInt32}) - 1, greatest(toFloat64(0), floor(${share} * {buckets:UInt32}))))`;
  if (!bounds.some(isShort)) return even;
  const size = byPosition ? "s_positions" : "s_n";
  return `if(arrayElement({${size}:Array(UInt32)}, series) <= {buckets:UInt32}, ${own}, ${even})`;
}

/** The value of a bucket's first and last point; null where that point is no number. */
function endsSql(bounds: readonly Bounds[]): { first: string; last: string } {
  const pick = (which: string) =>
    bounds.every(({ odd }) => odd === 0)
      ? `${which}(assumeNotNull(value), place)`
      : `if(${which}(isNull(value), place), NULL, ${which}(ifNull(value, 0), place))`;
  return { first: pick("argMin"), last: pick("argMax") };
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
  return `SELECT run, key, phase, ${worker} AS worker, at_worker, assumeNotNull(${x}) AS x, ts_ns, seq, entry, mark_id, value
    FROM (${placedPointsSql(database, request)})
    WHERE ${conditions.join(" AND ")}`;
}

/**
 * A Cirron mark without a step of its own is at the step and epoch of the spans it lies in: the span's own index,
 * or that of an ancestor, looked for three levels up. Spans come after their marks, so this is done when reading.
 */
function placedPointsSql(database: string, { axis, groups }: SeriesRequest): string {
  const from = `FROM ${database}.metrics AS m WHERE m.group_key IN {groups:Array(String)} AND m.key IN {keys:Array(String)}`;
  const run = "transform(toString(m.group_key), {groups:Array(String)}, {runs:Array(String)}, '')";
  const rank = "transform(toString(m.group_key), {groups:Array(String)}, {workers:Array(String)}, '')";
  const start =
    axis === "relative" ? `min(m.ts_ns) OVER (PARTITION BY ${run}) AS run_start` : "toInt64(0) AS run_start";
  const base = `${run} AS run, toString(m.key) AS key, toString(m.phase) AS phase,
      if(m.source = 'cirron', ${rank}, toString(m.worker)) AS at_worker, m.ts_ns AS ts_ns, m.seq AS seq,
      m.entry AS entry, m.mark_id AS mark_id, m.value AS value, ${start}`;
  if (axis === "time" || axis === "relative") return `SELECT ${base} ${from}`;
  // Only marks of Cirron hang on spans.
  if (groups.every((group) => group.worker === null))
    return `SELECT ${base}, m.step AS at_step, m.epoch AS at_epoch ${from}`;
  return `SELECT ${base}, ${indexSql("step")} AS at_step, ${indexSql("epoch")} AS at_epoch
    FROM (SELECT * ${from}) AS m
    LEFT JOIN (${enclosingSql(database)}) AS e ON e.span_id = m.span_id`;
}

function indexSql(name: "step" | "epoch"): string {
  return `ifNull(m.${name}, if(m.span_id = '', NULL, e.${name}))`;
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
