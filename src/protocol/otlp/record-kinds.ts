import type { RecordSource } from "#protocol/record-source.ts";
import { otlpFacts } from "./facts.ts";

const common = { protocol: `'${otlpFacts.name}'`, seq: "NULL", where: "origin != ''" } as const;

/** Points of metrics are events; the rows that are drawn from them are not records. */
export const otlpRecordKinds = {
  otlpSpan: {
    ...common,
    table: "spans",
    type: "'span'",
    worker: "toString(rank)",
    ts: "start_ns",
    columns: ["span_id", "parent_id", "name", "start_ns", "end_ns", "attrs", "origin"],
    search: ["name", "span_id", "attrs", "extra"],
  },
  otlpLog: {
    ...common,
    table: "logs",
    type: "'log'",
    worker: "worker",
    ts: "ts_ns",
    columns: ["msg", "fields", "origin"],
    search: ["msg", "logger", "fields", "extra"],
  },
} as const satisfies Record<string, RecordSource>;
