// Summaries that the engine keeps up to date by itself as rows arrive. A block may reach a summary twice (a retry after
// a crash), so only aggregates are used that do not mind: min, max, argMin, argMax. None counts.

import { stepOr, tieOf } from "#store/point-order.ts";
import type { TableLayout } from "./table-layout.ts";

export interface Summary {
  readonly target: TableLayout;
  /** The materialised views that fill it: table → SELECT over it, in which `@` stands for the table. */
  readonly sources: Readonly<Record<string, string>>;
}

/** A point of a series with the words that go with it: (value, value_text, step, epoch, ts_ns). */
const point = "Tuple(Nullable(Float64), String, Nullable(Int64), Nullable(Int64), Int64)";
/** Where it stands in its series: step, time, tie and entry. */
const place = "Tuple(Int64, Int64, Int64, Int32)";

/** A signed 64-bit number as bytes that keep its order when they are read as an unsigned one. */
const bytesOf = (number: string): string =>
  `reinterpretAsFixedString(bitXor(reinterpretAsUInt64(${number}), toUInt64(9223372036854775808)))`;

/** The four numbers of a place as one number with the same order; least significant first. */
const packedPlace = `reinterpretAsUInt256(concat(
    reinterpretAsFixedString(bitXor(reinterpretAsUInt32(s.entry), toUInt32(2147483648))),
    ${bytesOf("tie")}, ${bytesOf("s.ts_ns")}, ${bytesOf(stepOr("s.step"))}))`;

/** A point and its place, of which the engine finds the first and the last. */
const candidate = "(s.value, s.value_text, s.step, s.epoch, s.ts_ns, tie, s.entry)";

/** The aggregate state of one candidate. */
const stateOf = (aggregate: string, found: string): string =>
  `initializeAggregation('${aggregate}State', (${found}.1, ${found}.2, ${found}.3, ${found}.4, ${found}.5),
    (${stepOr(`${found}.3`)}, ${found}.5, ${found}.6, ${found}.7))`;

function summaryLayout(name: string, orderBy: readonly string[], columns: Record<string, string>): TableLayout {
  return {
    name,
    columns,
    codecs: {},
    indexes: [],
    engine: { name: "AggregatingMergeTree" },
    orderBy,
    shardBy: "sipHash64(group_key)",
  };
}

/** One row a series. `last` is the greatest (step, ts, tie); min and max are over finite values. */
export const metricSummary: Summary = {
  target: summaryLayout("metric_summary", ["group_key", "key", "worker", "phase"], {
    group_key: "LowCardinality(String)",
    key: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    phase: "LowCardinality(String)",
    first: `AggregateFunction(argMin, ${point}, ${place})`,
    last: `AggregateFunction(argMax, ${point}, ${place})`,
    min_value: "SimpleAggregateFunction(min, Nullable(Float64))",
    max_value: "SimpleAggregateFunction(max, Nullable(Float64))",
    nonfinite: "SimpleAggregateFunction(max, UInt8)",
    min_step: "SimpleAggregateFunction(min, Nullable(Int64))",
    max_step: "SimpleAggregateFunction(max, Nullable(Int64))",
    min_ns: "SimpleAggregateFunction(min, Int64)",
    max_ns: "SimpleAggregateFunction(max, Int64)",
    min_received_ns: "SimpleAggregateFunction(min, Int64)",
    max_received_ns: "SimpleAggregateFunction(max, Int64)",
  }),
  sources: {
    // The engine compares tuples far more slowly than integers, so a point is found by its packed place and only then
    // put into the state that is stored.
    metrics: `SELECT group_key, key, worker, phase,
  ${stateOf("argMin", "earliest")} AS first,
  ${stateOf("argMax", "latest")} AS last,
  min_value, max_value, nonfinite, min_step, max_step, min_ns, max_ns, min_received_ns, max_received_ns
FROM (
  WITH ${tieOf("s")} AS tie, ${packedPlace} AS place
  SELECT s.group_key AS group_key, s.key AS key, s.worker AS worker, s.phase AS phase,
    argMin(${candidate}, place) AS earliest,
    argMax(${candidate}, place) AS latest,
    minIf(s.value, isFinite(s.value)) AS min_value,
    maxIf(s.value, isFinite(s.value)) AS max_value,
    max(toUInt8(isNotNull(s.value) AND NOT isFinite(assumeNotNull(s.value)))) AS nonfinite,
    min(s.step) AS min_step, max(s.step) AS max_step,
    min(s.ts_ns) AS min_ns, max(s.ts_ns) AS max_ns,
    min(s.received_ns) AS min_received_ns, max(s.received_ns) AS max_received_ns
  FROM @ AS s GROUP BY s.group_key, s.key, s.worker, s.phase)`,
  },
};

/**
 * The same rows by key: the table of runs asks for two or three metrics of every run, and in the order above these
 * lie in every granule. It is filled from the summary's own inserts, which have one row a series.
 */
export const metricsByKey: Summary = {
  target: {
    ...summaryLayout("metric_by_key", ["key", "group_key", "worker", "phase"], metricSummary.target.columns),
    granularity: 1024,
  },
  sources: { metric_summary: `SELECT ${Object.keys(metricSummary.target.columns).join(", ")} FROM @` },
};

/** The params by name, for the same reason: one param of every run would touch every granule of their own table. */
export const paramsByKey: Summary = {
  target: {
    ...summaryLayout("param_by_key", ["name", "group_key", "worker", "ts_ns", "seq"], {
      group_key: "LowCardinality(String)",
      name: "LowCardinality(String)",
      worker: "LowCardinality(String)",
      ts_ns: "Int64",
      seq: "Int64",
      value: "String",
      value_num: "Nullable(Float64)",
    }),
    codecs: { ts_ns: "CODEC(Delta, ZSTD(1))", seq: "CODEC(Delta, ZSTD(1))", value: "CODEC(ZSTD(1))" },
    engine: { name: "ReplacingMergeTree" },
    granularity: 1024,
  },
  sources: {
    params: `SELECT s.name AS name, s.group_key AS group_key, s.worker AS worker, s.ts_ns AS ts_ns, s.seq AS seq,
  any(s.value) AS value, any(s.value_num) AS value_num
FROM @ AS s GROUP BY s.name, s.group_key, s.worker, s.ts_ns, s.seq`,
  },
};

/** A time that a record did not have is 0, and is not a time. */
const timesOf = (start: string, end: string): string =>
  `SELECT group_key, min(nullIf(${start}, 0)) AS min_ns, max(nullIf(${end}, 0)) AS max_ns,
  min(received_ns) AS min_received_ns, max(received_ns) AS max_received_ns FROM @ GROUP BY group_key`;

/**
 * When a group began and was last heard of. Metrics are not among its sources, because their summary has their times.
 */
const groupTimes: Summary = {
  target: summaryLayout("group_times", ["group_key"], {
    group_key: "LowCardinality(String)",
    min_ns: "SimpleAggregateFunction(min, Nullable(Int64))",
    max_ns: "SimpleAggregateFunction(max, Nullable(Int64))",
    min_received_ns: "SimpleAggregateFunction(min, Int64)",
    max_received_ns: "SimpleAggregateFunction(max, Int64)",
  }),
  sources: {
    spans: timesOf("start_ns", "end_ns"),
    marks: timesOf("ts_ns", "ts_ns"),
    snapshots: timesOf("ts_ns", "ts_ns"),
    logs: timesOf("ts_ns", "ts_ns"),
    params: timesOf("ts_ns", "ts_ns"),
    events: timesOf("ts_ns", "ts_ns"),
    nodes: timesOf("start_ns", "end_ns"),
  },
};

export const summaries: readonly Summary[] = [metricSummary, groupTimes];

/** Everything that is worked out from the facts as they are inserted. */
export const derivedTables: readonly Summary[] = [...summaries, metricsByKey, paramsByKey];
