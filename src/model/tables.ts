// The fact tables: every column that intake fills, with its store type.
// The store turns this map into CREATE TABLE (keys, codecs and indexes are its own affair), the block
// writer into native blocks, and `createRows` into the growable columns that a decoder pushes onto.
//
// Columns that every table ends with:
//   received_ns  when the bytes arrived at this collector
//   jpos, jrow   the journal record the row came from and its place in it: the order of arrival
//   collector    whose journal that is; the store's writer adds it, '' for rows of older releases
//   flags        bits of `rowFlags`
//   extra        strict JSON object of unknown fields and odd-typed values, '' when there are none
//   raw          the record's exact text, only when columns and `extra` cannot rebuild it, else ''
// A row's `group_key` never changes; the `groups` table says which run it belongs to today.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import {
  ArrayColumn,
  DictColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  type NullableColumn,
  nullableFloat64,
  nullableInt64,
  nullableString,
  nullableUInt8,
  StringColumn,
  UInt8Column,
  UInt32Column,
} from "#base/columns.ts";

/** 32 bits of the record's content, so that a second record with its identity and other content is recognised. */
const content = { content_hash: "UInt32" } as const;

/** Strict JSON of the resource and scope that an OTLP record names, '' for all others: few texts for many rows. */
const origin = { origin: "LowCardinality(String)" } as const;

const arrival = {
  received_ns: "Int64",
  jpos: "Int64",
  jrow: "UInt32",
  flags: "UInt32",
  extra: "String",
  raw: "String",
} as const;

export const factTables = {
  /** Spans of Cirron and OTLP. Text that is null or no text in the sent record stands in `extra` as it was sent. */
  spans: {
    group_key: "LowCardinality(String)",
    span_id: "String",
    parent_id: "Nullable(String)",
    name: "LowCardinality(String)",
    index: "Nullable(Int64)",
    start_ns: "Int64",
    end_ns: "Int64",
    cpu_ns: "Nullable(Int64)",
    gpu_ns: "Nullable(Int64)",
    memory_peak_bytes: "Nullable(Int64)",
    thread_id: "Nullable(Int64)",
    pid: "Nullable(Int64)",
    rank: "Int32",
    attrs: "String",
    mark_ids: "String",
    ...origin,
    ...content,
    ...arrival,
  },
  marks: {
    group_key: "LowCardinality(String)",
    mark_id: "String",
    span_id: "String",
    name: "LowCardinality(String)",
    value_type: "LowCardinality(String)",
    value_float: "Nullable(Float64)",
    value_int: "Nullable(Int64)",
    value_string: "Nullable(String)",
    value_bool: "Nullable(UInt8)",
    attrs: "String",
    ts_ns: "Int64",
    kind: "LowCardinality(String)",
    ...content,
    ...arrival,
  },
  snapshots: {
    group_key: "LowCardinality(String)",
    snapshot_id: "String",
    span_id: "String",
    tensor_name: "LowCardinality(String)",
    shape: "String",
    dtype: "LowCardinality(String)",
    mode: "LowCardinality(String)",
    mean: "Nullable(Float64)",
    std: "Nullable(Float64)",
    min: "Nullable(Float64)",
    max: "Nullable(Float64)",
    norm: "Nullable(Float64)",
    bins: "Array(Float64)",
    counts: "Array(Float64)",
    /** Strict JSON of `stats` as sent, or '' when it was null. */
    stats: "String",
    blob_uri: "Nullable(String)",
    ts_ns: "Int64",
    attrs: "String",
    ...content,
    ...arrival,
  },
  /** Where the rows of an id are: which group has a Cirron row with this id or names it as a span. Sorted by the id, so
   * that a few of them are found among any number. Written by intake for itself. */
  cirron_ids: {
    group_key: "LowCardinality(String)",
    /** 63 bits of the id and its kind. */
    id_key: "Int64",
    /** The hour, counted from 1970, in which the row begins, or the one that names the id. */
    hour: "Int32",
  },
  /** One row per XTrack metric, per entry of a metric_batch, per numeric or bool Cirron mark, per system sample. */
  metrics: {
    group_key: "LowCardinality(String)",
    key: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    phase: "LowCardinality(String)",
    step: "Nullable(Int64)",
    step_text: "String",
    epoch: "Nullable(Int64)",
    ts_ns: "Int64",
    value: "Nullable(Float64)",
    value_text: "String",
    source: "LowCardinality(String)",
    /** XTrack's sequence number; 0 for the others. */
    seq: "Int64",
    /** Place within a metric_batch, -1 for a single metric. */
    entry: "Int32",
    /** Cirron: the mark and its span, so that a missing step can be taken from the enclosing span when read. */
    mark_id: "String",
    span_id: "String",
    /** Strict JSON of `ctx` without `phase`, '' when there is nothing else. A run has few contexts and many points. */
    ctx: "LowCardinality(String)",
    ...arrival,
  },
  params: {
    group_key: "LowCardinality(String)",
    /** The flattened dotted name. */
    name: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    key: "LowCardinality(String)",
    /** JSON array text of nested_key, '' when absent. */
    nested_key: "String",
    /** Strict JSON text of the value. */
    value: "String",
    value_num: "Nullable(Float64)",
    ts_ns: "Int64",
    /** XTrack's sequence number; -1 for a value out of a Semantiva run's context, -2 for an attribute of an OTLP
     * resource, which are not records of their own. */
    seq: "Int64",
    ...arrival,
  },
  logs: {
    group_key: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    ts_ns: "Int64",
    seq: "Int64",
    level: "LowCardinality(String)",
    logger: "LowCardinality(String)",
    msg: "String",
    step: "Nullable(Int64)",
    /** Strict JSON of `fields`, '' when absent. */
    fields: "String",
    /** Captured output: which stream, and the byte offset of the line in it; '' and 0 for XTrack logs. */
    stream: "LowCardinality(String)",
    offset: "Int64",
    ...origin,
    ...arrival,
  },
  /** Everything else a run received: XTrack run_start, run_end, artifact, checkpoint, status, unknown types;
   * Semantiva lifecycle lines and unknown types; the wrapper's own start and exit. */
  events: {
    group_key: "LowCardinality(String)",
    protocol: "LowCardinality(String)",
    type: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    ts_ns: "Int64",
    seq: "Int64",
    /** 32 hex of the identity: SHA-256 of the line for Semantiva, '' for XTrack, where (seq, ts) is it. */
    event_id: "String",
    /** Strict JSON: XTrack's `p`; Semantiva's whole line, exactly as written unless `raw` has it. */
    payload: "String",
    ...arrival,
  },
  /** Semantiva SER lines. */
  nodes: {
    group_key: "LowCardinality(String)",
    node_id: "String",
    pipeline_id: "LowCardinality(String)",
    status: "LowCardinality(String)",
    /** Parsed from timing; 0 when absent or no time. */
    start_ns: "Int64",
    end_ns: "Int64",
    started_at: "String",
    finished_at: "String",
    wall_ms: "Nullable(Int64)",
    cpu_ms: "Nullable(Int64)",
    processor: "LowCardinality(String)",
    upstream: "Array(String)",
    seq: "Nullable(Int64)",
    timestamp: "Nullable(String)",
    event_id: "String",
    /** Strict JSON: the whole line, exactly as written unless `raw` has it. */
    payload: "String",
    ...arrival,
  },
  /** What aggregation needs of Semantiva's lifecycle lines, beside the whole line in `events`: a launch of 100,000
   * runs is judged from these narrow rows without reading 100,000 pipeline specs. One row a line; a field that its
   * type does not have is '', null or empty. */
  lifecycle: {
    /** The run's key for pipeline_* lines, the launch's key for run_space_* lines. */
    group_key: "LowCardinality(String)",
    type: "LowCardinality(String)",
    run_id: "String",
    /** `<workspace>/l/<launch>/<attempt>`: the launch that the line is of, or that a start attaches its run to; '' for
     * none, and for every end of a run. */
    launch_key: "LowCardinality(String)",
    launch_id: "LowCardinality(String)",
    attempt: "Nullable(Int64)",
    run_index: "Nullable(Int64)",
    /** Strict JSON of run_space_context with sorted keys, '' when absent. */
    context: "String",
    pipeline_id: "LowCardinality(String)",
    semantic_id: "LowCardinality(String)",
    config_id: "LowCardinality(String)",
    /** pipeline_spec_canonical.nodes[*].node_uuid, in order. */
    expected: "Array(String)",
    /** summary.status of an end line. */
    outcome: "LowCardinality(String)",
    planned_runs: "Nullable(Int64)",
    total_runs: "Nullable(Int64)",
    /** As written, and parsed; 0 when absent or no time. */
    timestamp: "String",
    ts_ns: "Int64",
    seq: "Nullable(Int64)",
    event_id: "String",
    received_ns: "Int64",
    jpos: "Int64",
    jrow: "UInt32",
  },
  faults: {
    /** '' when the run is not known. */
    group_key: "LowCardinality(String)",
    workspace: "LowCardinality(String)",
    fault_id: "String",
    code: "LowCardinality(String)",
    blast: "LowCardinality(String)",
    protocol: "LowCardinality(String)",
    transport: "LowCardinality(String)",
    detail: "String",
    /** Strict JSON of the FaultPlace. */
    place: "String",
    received_ns: "Int64",
    jpos: "Int64",
    jrow: "UInt32",
    /** The bytes themselves. */
    raw: "String",
  },
  /** Contiguous runs of XTrack sequence numbers as they came, so that gaps are found without reading every event. */
  seq_ranges: {
    group_key: "LowCardinality(String)",
    worker: "LowCardinality(String)",
    first_seq: "Int64",
    last_seq: "Int64",
    first_ts_ns: "Int64",
    last_ts_ns: "Int64",
    events: "UInt32",
    duplicates: "UInt32",
    received_ns: "Int64",
    jpos: "Int64",
    jrow: "UInt32",
  },
} as const;

export type FactTable = keyof typeof factTables;

/** Whether a table's rows came by a journal, and so have a place: collector, position and row. */
export function hasPlace(table: FactTable): boolean {
  return "jpos" in factTables[table];
}

interface ColumnOf {
  String: StringColumn;
  "LowCardinality(String)": DictColumn;
  Int64: Int64Column;
  Int32: Int32Column;
  UInt32: UInt32Column;
  UInt8: UInt8Column;
  Float64: Float64Column;
  "Nullable(String)": NullableColumn<StringColumn>;
  "Nullable(Int64)": NullableColumn<Int64Column>;
  "Nullable(Float64)": NullableColumn<Float64Column>;
  "Nullable(UInt8)": NullableColumn<UInt8Column>;
  "Array(Float64)": ArrayColumn<Float64Column>;
  "Array(String)": ArrayColumn<StringColumn>;
}

export type ColumnType = keyof ColumnOf;
export type AnyColumn = ColumnOf[ColumnType];

/** The growable columns of one table. Times are the sender's, but for when a row arrived. */
export type Rows<T extends FactTable> = {
  readonly [C in keyof (typeof factTables)[T]]: C extends "received_ns"
    ? Int64Column<ServerNs>
    : C extends "ts_ns" | "start_ns" | "end_ns"
      ? Int64Column<SenderNs>
      : (typeof factTables)[T][C] extends ColumnType
        ? ColumnOf[(typeof factTables)[T][C]]
        : never;
};

const makers: { readonly [T in ColumnType]: () => ColumnOf[T] } = {
  String: () => new StringColumn(),
  "LowCardinality(String)": () => new DictColumn(),
  Int64: () => new Int64Column(),
  Int32: () => new Int32Column(),
  UInt32: () => new UInt32Column(),
  UInt8: () => new UInt8Column(),
  Float64: () => new Float64Column(),
  "Nullable(String)": nullableString,
  "Nullable(Int64)": nullableInt64,
  "Nullable(Float64)": nullableFloat64,
  "Nullable(UInt8)": nullableUInt8,
  "Array(Float64)": () => new ArrayColumn(new Float64Column()),
  "Array(String)": () => new ArrayColumn(new StringColumn()),
};

/** An empty column of a store type. */
export function createColumn<T extends ColumnType>(type: T): ColumnOf[T] {
  return makers[type]();
}

/** Per table, the name and maker of each column: rows are made for every batch, the table is read once. */
const recipes = Object.fromEntries(
  Object.entries(factTables).map(([table, columns]) => [
    table,
    Object.entries(columns).map(([name, type]) => ({ name, make: makers[type] })),
  ]),
) as unknown as { readonly [T in FactTable]: readonly { readonly name: string; readonly make: () => AnyColumn }[] };

/**
 * Objects to which more than a dozen properties are added one by one become hash tables, and every look at a column
 * then costs far more. JSON.parse makes objects of a fixed layout, and copies keep it.
 */
const layouts = Object.fromEntries(
  Object.entries(factTables).map(([table, columns]) => [
    table,
    JSON.parse(JSON.stringify(Object.fromEntries(Object.keys(columns).map((name) => [name, {}])))),
  ]),
) as { readonly [T in FactTable]: Record<string, AnyColumn> };

/** Empty columns of a table: those of an earlier batch if there are any. */
export function createRows<T extends FactTable>(table: T): Rows<T> {
  const used = usedRows[table].pop();
  if (used !== undefined) return used as Rows<T>;
  const rows: Record<string, AnyColumn> = { ...layouts[table] };
  for (const { name, make } of recipes[table]) rows[name] = make();
  return rows as unknown as Rows<T>;
}

/** Columns to be used again: to make two or three dozen of them costs a small batch more than to fill them. */
const usedRows = Object.fromEntries(Object.keys(factTables).map((table) => [table, []])) as unknown as {
  readonly [T in FactTable]: Rows<FactTable>[];
};
const usedRowsMax = 32;

/** Gives the columns to whoever needs such next; nobody else may read them any more. */
export function reuseRows(table: FactTable, rows: Rows<FactTable>): void {
  // Empty ones may be those that all batches without such rows share.
  if (rows.group_key.length === 0) return;
  if (usedRows[table].length === usedRowsMax) {
    releaseRows(rows);
    return;
  }
  for (const column of Object.values(rows) as AnyColumn[]) column.clear();
  usedRows[table].push(rows);
}

/** What the columns hold in memory. */
export function rowsBytes(rows: Rows<FactTable>): number {
  let sum = 0;
  for (const column of Object.values(rows) as AnyColumn[]) sum += column.byteSize;
  return sum;
}

/** Gives the memory of the columns back; nobody may read them any more. */
export function releaseRows(rows: Rows<FactTable>): void {
  for (const column of Object.values(rows) as AnyColumn[]) column.release();
}
