// Summaries that the engine keeps up to date by itself while rows come in. A block may reach a summary twice (a
// retry after a crash), so only aggregates that do not mind are used: min, max, argMin, argMax. None counts.

import type { TableLayout } from "./table-layout.ts";

export interface Summary {
  readonly target: TableLayout;
  /** The materialised views that fill it: fact table → SELECT over it. */
  readonly sources: Readonly<Record<string, string>>;
}

/** A point of a series with the words that go with it: (value, value_text, step, epoch, ts_ns). */
const point = "Tuple(Nullable(Float64), String, Nullable(Int64), Nullable(Int64), Int64)";
const pointSql = "(value, value_text, step, epoch, ts_ns)";
/** The order of a series: points without a step come before those with one. */
const place = "Tuple(Int64, Int64, Int64, Int32)";
const placeSql = "(ifNull(step, toInt64(-9223372036854775808)), ts_ns, seq, entry)";

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

/** One row a series. `last` is the greatest (step, ts, seq); min and max are over finite values. */
const metricSummary: Summary = {
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
    metrics: `group_key, key, worker, phase,
      argMinState(${pointSql}, ${placeSql}) AS first,
      argMaxState(${pointSql}, ${placeSql}) AS last,
      minIf(value, isFinite(value)) AS min_value,
      maxIf(value, isFinite(value)) AS max_value,
      max(toUInt8(isNotNull(value) AND NOT isFinite(assumeNotNull(value)))) AS nonfinite,
      min(step) AS min_step, max(step) AS max_step,
      min(ts_ns) AS min_ns, max(ts_ns) AS max_ns,
      min(received_ns) AS min_received_ns, max(received_ns) AS max_received_ns`,
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
  sources: {
    metric_summary: Object.entries(metricSummary.target.columns)
      .map(([name, type]) => `${mergeOf(name, type)} AS ${name}`)
      .join(", "),
  },
};

/** The params by name, for the same reason: one param of every run lies in every granule of their own table. */
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
    params: `s.name AS name, s.group_key AS group_key, s.worker AS worker, s.ts_ns AS ts_ns, s.seq AS seq,
      any(s.value) AS value, any(s.value_num) AS value_num`,
  },
};

function mergeOf(name: string, type: string): string {
  const [, kind, aggregate] = /^(Simple)?AggregateFunction\((\w+)/.exec(type) ?? [];
  if (aggregate === undefined) return `s.${name}`;
  return kind === "Simple" ? `${aggregate}(s.${name})` : `${aggregate}MergeState(s.${name})`;
}

/** A time that a record did not have is 0, and is no time. */
const timesOf = (start: string, end: string): string =>
  `group_key, min(nullIf(${start}, 0)) AS min_ns, max(nullIf(${end}, 0)) AS max_ns,
    min(received_ns) AS min_received_ns, max(received_ns) AS max_received_ns`;

/** When a group began and was last heard of. Metrics are not among its sources: their summary says it for them. */
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
