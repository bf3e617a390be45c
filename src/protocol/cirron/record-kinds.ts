import type { RecordSource } from "#protocol/record-source.ts";
import { cirronFacts } from "./facts.ts";

const common = { protocol: `'${cirronFacts.name}'`, worker: "''", seq: "NULL" } as const;

export const cirronRecordKinds = {
  span: {
    ...common,
    table: "spans",
    where: "origin = ''",
    type: "'span'",
    worker: "toString(rank)",
    ts: "start_ns",
    columns: [
      "span_id",
      "parent_id",
      "name",
      "index",
      "start_ns",
      "end_ns",
      "cpu_ns",
      "gpu_ns",
      "memory_peak_bytes",
      "thread_id",
      "pid",
      "rank",
      "attrs",
      "mark_ids",
    ],
    search: ["name", "span_id", "attrs"],
  },
  mark: {
    ...common,
    table: "marks",
    type: "'mark'",
    ts: "ts_ns",
    columns: [
      "mark_id",
      "span_id",
      "name",
      "value_type",
      "value_float",
      "value_int",
      "value_string",
      "value_bool",
      "attrs",
      "ts_ns",
      "kind",
    ],
    search: ["name", "mark_id", "value_string", "attrs"],
  },
  snapshot: {
    ...common,
    table: "snapshots",
    type: "'snapshot'",
    ts: "ts_ns",
    columns: ["snapshot_id", "span_id", "tensor_name", "shape", "dtype", "mode", "stats", "blob_uri", "ts_ns", "attrs"],
    search: ["tensor_name", "snapshot_id", "attrs"],
  },
} as const satisfies Record<string, RecordSource>;
