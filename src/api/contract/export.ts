// Taking data away: one run or a filtered set.

import type { Static } from "typebox";
import { word } from "./scalar.ts";
import { Type } from "./schema.ts";

export const ExportFormat = word([
  "jsonl",
  "csv",
  "parquet",
  "chrome",
  "otlp",
  "otlp_traces",
  "otlp_metrics",
  "otlp_logs",
]);
export type ExportFormat = Static<typeof ExportFormat>;

/** csv and parquet hold one kind per file; jsonl holds everything, losslessly; chrome is the trace of spans;
 * otlp is requests in JSON, one per line, and otlp_… those of one signal in protobuf. */
export const ExportKind = word([
  "runs",
  "metrics",
  "spans",
  "marks",
  "snapshots",
  "params",
  "logs",
  "artifacts",
  "checkpoints",
  "nodes",
  "events",
  "faults",
]);

export const RunExportQuery = Type.Object({
  format: Type.Optional(ExportFormat),
  kind: Type.Optional(ExportKind),
});
export const ExportQuery = Type.Object({
  format: Type.Optional(ExportFormat),
  kind: Type.Optional(ExportKind),
  filter: Type.Optional(Type.String({ maxLength: 4096 })),
});
