// GET /runs/<id>/export and GET /export: a run, or the runs of a filter, taken away as a file.

import { ofRun, type Route } from "#api/context.ts";
import type { ExportFormat } from "#api/contract/export.ts";
import { FileBody } from "#api/handler.ts";
import { Refusal } from "#api/refusal.ts";
import { exportCsv, exportParquet, exportTrace } from "#archive/export-files.ts";
import { exportRuns } from "#archive/export-lines.ts";
import { exportOtlpBytes, exportOtlpLines, type OtlpRequest } from "#archive/otlp/export-requests.ts";
import { started } from "#base/started.ts";
import { type FoundRun, readFoundRuns } from "#query/runs/find-run.ts";
import { endedBy, type Sources } from "#query/sources.ts";
import { findRuns } from "./edit.ts";

interface FileFormat {
  readonly type: string;
  readonly ending: string;
  /** Of the requests in protobuf that the file holds. */
  readonly signal?: OtlpRequest["signal"];
}

const formats: Readonly<Record<ExportFormat, FileFormat>> = {
  jsonl: { type: "application/x-ndjson", ending: "jsonl" },
  csv: { type: "text/csv; charset=utf-8", ending: "csv" },
  parquet: { type: "application/vnd.apache.parquet", ending: "parquet" },
  chrome: { type: "application/json", ending: "trace.json" },
  otlp: { type: "application/x-ndjson", ending: "otlp.jsonl" },
  otlp_traces: { type: "application/x-protobuf", ending: "traces.binpb", signal: "traces" },
  otlp_metrics: { type: "application/x-protobuf", ending: "metrics.binpb", signal: "metrics" },
  otlp_logs: { type: "application/x-protobuf", ending: "logs.binpb", signal: "logs" },
};

export const exportRunRoute: Route<"exportRun"> = ofRun(async (context, { query, caller, signal, run }) => {
  const sources = endedBy(context.sources, signal);
  const body =
    query.format === "chrome" ? exportTrace(sources.store, run) : writeRuns(sources, caller.workspace, [run], query);
  return toFile(query, run.runId, await started(body));
});

export const exportRunsRoute: Route<"exportRuns"> = async (context, { query, caller, signal }) => {
  if (query.format === "chrome")
    throw new Refusal("export_format", "A Chrome trace is of one run.", {
      hint: "Use GET /api/v1/runs/<id>/export?format=chrome for each.",
      at: { part: "query", name: "format" },
    });
  const ids = await findRuns(context, caller.workspace, query.filter ?? "");
  const runs = await readFoundRuns(context.sources, caller.workspace, ids);
  const isEverything = (query.filter ?? "").trim() === "";
  const body = writeRuns(endedBy(context.sources, signal), caller.workspace, runs, { ...query, isEverything });
  return toFile(query, "runs", await started(body));
};

interface ExportQuery {
  /** Absent: the lossless one. */
  readonly format?: ExportFormat;
  readonly kind?: string;
}

function toFile({ format = "jsonl", kind }: ExportQuery, name: string, body: AsyncIterable<Uint8Array>): FileBody {
  const { type, ending } = formats[format];
  return new FileBody(type, body, `${name}${kind === undefined ? "" : `-${kind}`}.${ending}`);
}

function writeRuns(
  sources: Sources,
  workspace: string,
  runs: readonly FoundRun[],
  { format = "jsonl", kind, isEverything = false }: ExportQuery & { readonly isEverything?: boolean },
): AsyncIterable<Uint8Array> {
  if (format === "jsonl") return exportRuns(sources, { workspace, runs, isEverything });
  const { store } = sources;
  if (format === "otlp") return exportOtlpLines(store, runs);
  const otlpSignal = formats[format].signal;
  if (otlpSignal !== undefined) return exportOtlpBytes(store, runs, otlpSignal);
  if (kind === undefined)
    throw new Refusal("export_kind", `A ${format} file holds one kind of record.`, {
      hint: "Add kind=metrics, or another of the kinds in the reference.",
      at: { part: "query", name: "kind" },
    });
  const scope = { workspace, runs: runs.map((run) => run.runId) };
  return (format === "parquet" ? exportParquet : exportCsv)(store, kind, scope);
}
