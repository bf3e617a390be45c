// The layout of each table on disk: its engine, its order, its codecs and its indexes. The columns themselves come from
// the model's maps. A fact table is sorted by group, then time, then identity, so that a run's rows lie together
// and a second copy of a row, which has the same time, is merged away.

import { type StateTable, stateTables } from "#model/state-tables.ts";
import { type ColumnType, type FactTable, factTables, hasPlace } from "#model/tables.ts";

export interface TableLayout {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly codecs: Readonly<Record<string, string>>;
  readonly indexes: readonly string[];
  /** `ReplacingMergeTree`, with a version column if there is one, or `AggregatingMergeTree`. */
  readonly engine: { readonly name: "ReplacingMergeTree" | "AggregatingMergeTree"; readonly version?: string };
  readonly orderBy: readonly string[];
  /** Rows between two marks of the index; the engine's own 8192 when absent. */
  readonly granularity?: number;
  /** A smaller part keeps all its columns in one file; the engine's own 10 MiB when absent. */
  readonly wideBytesMin?: number;
  /** The expression by which rows are spread over a cluster; null for a table that is whole on every shard. */
  readonly shardBy: string | null;
}

const factOrder: Readonly<Record<FactTable, readonly string[]>> = {
  spans: ["group_key", "start_ns", "span_id"],
  marks: ["group_key", "ts_ns", "mark_id"],
  snapshots: ["group_key", "tensor_name", "ts_ns", "snapshot_id"],
  cirron_ids: ["id_key", "group_key"],
  metrics: ["group_key", "key", "worker", "ts_ns", "seq", "entry", "mark_id"],
  params: ["group_key", "name", "worker", "ts_ns", "seq"],
  logs: ["group_key", "ts_ns", "worker", "seq", "stream", "offset"],
  events: ["group_key", "type", "ts_ns", "worker", "seq", "event_id"],
  nodes: ["group_key", "start_ns", "node_id", "event_id"],
  // A launch is judged as a whole, so its runs lie together.
  lifecycle: ["launch_key", "group_key", "type", "ts_ns", "event_id"],
  // The same fault may recur at any time; its identity is its content alone.
  faults: ["group_key", "code", "fault_id"],
  seq_ranges: ["group_key", "worker", "first_ts_ns", "first_seq", "last_seq", "jpos", "jrow"],
};

const bloom = (column: string): string => `INDEX ${column}_bloom ${column} TYPE bloom_filter(0.01) GRANULARITY 1`;

const factIndexes: Partial<Readonly<Record<FactTable, readonly string[]>>> = {
  spans: [bloom("span_id"), bloom("parent_id")],
  marks: [bloom("mark_id"), bloom("span_id")],
  snapshots: [bloom("snapshot_id"), bloom("span_id")],
  logs: ["INDEX msg_text msg TYPE text(tokenizer = 'splitByNonAlpha')"],
  lifecycle: [bloom("group_key")],
};

/**
 * Writing a part with one file and one sync per column makes inserts half as long again for tables of some twenty
 * columns. Metrics are left out: merging them column by column, which only such parts allow, saves more than that.
 */
const mebibyte = 1024 * 1024;
const wideBytesMin: Partial<Readonly<Record<FactTable, number>>> = {
  spans: 64 * mebibyte,
  marks: 64 * mebibyte,
  snapshots: 64 * mebibyte,
  // Their payloads are long: some thousand lines of a trace take tens of megabytes.
  events: 64 * mebibyte,
  nodes: 64 * mebibyte,
  // In one file the granules of ids, which are small, are compressed one by one, which takes half as much space again.
  cirron_ids: mebibyte,
};

/** Ids are looked up one by one: the engine reads a whole granule for each. */
const idGranularity = 512;

const stateOrder: Readonly<Record<StateTable, readonly string[]>> = {
  groups: ["group_key"],
  writers: ["group_key", "collector"],
  batch_places: ["group_key", "batch_id", "collector", "position"],
  collectors: ["collector"],
  deletions: ["order_id"],
  aliases: ["workspace", "alias", "group_key"],
  cirron_batches: ["workspace", "batch_id", "source"],
  cirron_components: ["group_key"],
  blobs: ["workspace", "span_id", "kind"],
  run_edits: ["workspace", "run_id"],
  joins: ["workspace", "run_id"],
  keys: ["key_id"],
  commands: ["cmd_id", "worker", "state"],
  settings: ["workspace", "name"],
  saved_views: ["workspace", "owner", "page", "name"],
  audit: ["at_ns", "action", "subject"],
  firings: ["firing_id"],
  deliveries: ["delivery_id"],
};

/**
 * Times and counters grow by small steps; the rest is text or noise, for which plain ZSTD was measured best. XTrack's
 * times are whole microseconds, which the greatest common divisor takes out of the steps. The ids of `cirron_ids` are
 * random and sorted: neighbours share their first bits, and nothing else about them can be foretold.
 */
function codecOf(name: string, type: string): string {
  if (name === "id_key") return "CODEC(T64, ZSTD(1))";
  if (name === "ts_ns") return "CODEC(GCD, Delta, ZSTD(1))";
  if (/^(Nullable\()?Int64/.test(type)) {
    const steady = name === "step" || name === "seq" || name === "epoch" || name.endsWith("_seq");
    return steady ? "CODEC(DoubleDelta, ZSTD(1))" : "CODEC(Delta, ZSTD(1))";
  }
  if (name === "jrow") return "CODEC(Delta, ZSTD(1))";
  return type.startsWith("LowCardinality") ? "" : "CODEC(ZSTD(1))";
}

function codecsOf(columns: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, codecOf(name, type)]));
}

function factLayout(name: FactTable): TableLayout {
  const columns: Readonly<Record<string, ColumnType>> = {
    ...factTables[name],
    ...(hasPlace(name) ? { collector: "LowCardinality(String)" } : {}),
  };
  return {
    name,
    columns,
    codecs: codecsOf(columns),
    indexes: factIndexes[name] ?? [],
    engine: { name: "ReplacingMergeTree" },
    orderBy: factOrder[name],
    ...(wideBytesMin[name] === undefined ? {} : { wideBytesMin: wideBytesMin[name] }),
    ...(name === "cirron_ids" ? { granularity: idGranularity } : {}),
    shardBy: "sipHash64(group_key)",
  };
}

function stateLayout(name: StateTable): TableLayout {
  const columns: Readonly<Record<string, ColumnType>> = stateTables[name];
  return {
    name,
    columns,
    codecs: codecsOf(columns),
    indexes: [],
    engine: { name: "ReplacingMergeTree", version: "version" },
    orderBy: stateOrder[name],
    shardBy: null,
  };
}

export const factLayouts: readonly TableLayout[] = (Object.keys(factTables) as FactTable[]).map(factLayout);
export const stateLayouts: readonly TableLayout[] = (Object.keys(stateTables) as StateTable[]).map(stateLayout);
