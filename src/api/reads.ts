// What the routes read, each as a narrow function. The store's readers implement it; rows are named and typed as
// the contract says wherever that is possible, so that most answers need no further work.

import type { LogFilter, PageOf } from "#model/page.ts";
import type { MetricCell, MetricCount, ParamCell, PointStat } from "#model/run-cells.ts";
import type { RunFacts } from "#model/run-facts.ts";
import type { SeriesRequest } from "#model/series-request.ts";
import type { TimelineReads } from "#query/timeline/timelines.ts";
import type { CompareReads } from "./compare-reads.ts";
import type { CheckpointRow, LogRow } from "./contract/record.ts";
import type { Float } from "./contract/scalar.ts";
import type { MetricInfo } from "./contract/series.ts";
import type { Snapshot } from "./contract/snapshot.ts";
import type { SpanSummaryRow } from "./contract/span.ts";
import type { PipelineReads } from "./pipeline-reads.ts";
import type { RecordReads } from "./record-reads.ts";

export interface RunGroup {
  readonly groupKey: string;
  readonly run: string;
  readonly protocol: string;
  readonly rank: number;
}

/** A run that an id led to. */
export interface ResolvedRun {
  readonly runId: string;
  readonly groups: readonly RunGroup[];
  readonly aliases: readonly string[];
  /** Other runs that the same id names. */
  readonly also: readonly string[];
}

/** Where a row stands in the order of arrival. */
export interface Arrival {
  readonly jpos: string;
  readonly jrow: number;
}

export interface FaultRequest extends Omit<PageOf, "groups"> {
  readonly workspace: string;
  readonly groups: readonly string[] | null;
  readonly codes: readonly string[];
  readonly protocol: string;
}

export interface FaultRecord extends Arrival {
  readonly id: string;
  readonly group_key: string;
  readonly code: string;
  readonly blast: "record" | "message" | "stream";
  readonly protocol: string;
  readonly transport: string;
  readonly detail: string;
  readonly place: string;
  readonly received_ns: string;
  readonly raw_bytes: number;
  readonly raw_base64: string;
}

/** A series of runs whose groups the caller has resolved. */
export interface RunSeriesRequest extends Omit<SeriesRequest, "groups"> {
  readonly groups: readonly RunGroup[];
}

export interface ParamRecord {
  readonly name: string;
  readonly value: string;
  readonly value_num: number | "NaN" | "Infinity" | "-Infinity" | null;
  readonly worker: string;
  readonly origin: string;
  readonly ts_ns: string;
}

export interface ArtifactRecord {
  readonly seq: string;
  readonly tie: string;
  readonly name: string;
  readonly type: string;
  readonly path: string;
  readonly strategy: string;
  readonly size_bytes: string | null;
  readonly checksum: string;
  readonly worker: string;
  readonly ts_ns: string;
  readonly step: string | null;
  readonly meta: string;
}

export interface TimeWindow {
  readonly groups: readonly string[];
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
}

export interface SpanWindow extends TimeWindow {
  readonly byRank: boolean;
}

export interface TensorRecord {
  readonly tensor: string;
  readonly shape: string;
  readonly dtype: string;
  readonly snapshots: number;
  readonly blobs: number;
  readonly first_ns: string;
  readonly last_ns: string;
  readonly norms: readonly (Float | null)[];
  readonly has_nan: number;
  readonly last_min: Float | null;
  readonly last_max: Float | null;
  readonly last_std: Float | null;
}

/** `nonfinite_count` and `finite` are JSON text as sent, '' when they were not. */
export interface SnapshotRecord extends Omit<Snapshot, "blob_stored" | "nonfinite_count" | "finite"> {
  readonly nonfinite_count: string;
  readonly finite: string;
  readonly total: number;
}

export interface Reads {
  readonly pipelines: PipelineReads;
  readonly records: RecordReads;
  readonly compare: CompareReads;
  resolve(workspace: string, id: string): Promise<ResolvedRun | null>;
  /** For each id the groups of the run it means; none when it means nothing. */
  groupsOfIds(workspace: string, ids: readonly string[]): Promise<Map<string, RunGroup[]>>;
  groupsOf(workspace: string, runs: readonly string[]): Promise<RunGroup[]>;
  /** Of all runs of a workspace, or what these groups say of theirs. */
  runFacts(workspace: string, groups: readonly string[] | null): Promise<RunFacts[]>;
  paramCells(workspace: string, name: string | null, groups: readonly string[] | null): Promise<ParamCell[]>;
  metricCells(workspace: string, key: string, stat: PointStat, groups: readonly string[] | null): Promise<MetricCell[]>;
  metricCounts(
    workspace: string,
    keys: readonly string[] | null,
    groups: readonly string[] | null,
  ): Promise<MetricCount[]>;
  fields(workspace: string, text: string): Promise<FieldRecord[]>;
  runPayloads(groups: readonly string[]): Promise<PayloadRecord[]>;
  counts(groups: readonly string[]): Promise<Record<string, number>>;
  metrics(groups: readonly RunGroup[]): Promise<MetricInfo[]>;
  /** JSON rows of the contract's Series, one a line. */
  series(request: RunSeriesRequest, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  logs(request: LogFilter): Promise<(LogRow & Arrival)[]>;
  logLevels(request: LogFilter): Promise<{ level: string; count: number }[]>;
  params(groups: readonly string[]): Promise<ParamRecord[]>;
  artifacts(request: PageOf): Promise<ArtifactRecord[]>;
  checkpoints(request: PageOf): Promise<(Omit<CheckpointRow, "metrics" | "is_best"> & CheckpointParts)[]>;
  faults(request: FaultRequest): Promise<FaultRecord[]>;
  faultCodes(request: FaultRequest): Promise<{ code: string; count: number }[]>;
  faultRaw(workspace: string, id: string): Promise<Uint8Array | null>;
  spanSummary(window: SpanWindow): Promise<SpanSummaryRecord[]>;
  tensors(window: TimeWindow, tensor: string | null): Promise<TensorRecord[]>;
  tensorRows(window: TimeWindow, tensor: string, limit: number): Promise<SnapshotRecord[]>;
  blobsOfSpans(
    workspace: string,
    spans: readonly string[],
  ): Promise<{ readonly span_id: string; readonly kind: string; readonly object_key: string }[]>;
  snapshot(
    groups: readonly string[],
    id: string,
  ): Promise<{ readonly span_id: string; readonly tensor: string } | null>;
  span(groups: readonly string[], id: string): Promise<SpanRecord | null>;
  /** Ids, names and parents of these spans, those that have arrived. */
  spanRefs(groups: readonly string[], ids: readonly string[]): Promise<SpanRefRecord[]>;
  marksOfSpan(groups: readonly string[], id: string): Promise<MarkRecord[]>;
  readonly timeline: TimelineReads;
}

export interface SpanSummaryRecord extends Omit<SpanSummaryRow, "share"> {
  readonly gpu_count: number;
  readonly first_ns: string;
  readonly last_ns: string;
}

export interface SpanRefRecord {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  readonly index: string | null;
}

export interface SpanRecord extends SpanRefRecord {
  readonly flags: number;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly cpu_ns: string | null;
  readonly gpu_ns: string | null;
  readonly memory_peak_bytes: string | null;
  readonly rank: number | null;
  readonly pid: string | null;
  readonly thread: string | null;
  readonly attrs: string;
  readonly extra: string;
  readonly mark_count: number;
  readonly children: number;
  readonly snapshots: number;
}

export interface MarkRecord {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly value: Float | null;
  readonly text: string;
  readonly ts_ns: string;
  readonly attrs: string;
  readonly extra: string;
}

export interface CheckpointParts {
  readonly seq: string;
  readonly tie: string;
  readonly metrics: string;
  readonly is_best: number | boolean;
}

export interface FieldRecord {
  readonly kind: "param" | "metric";
  readonly name: string;
  readonly phase: string;
  readonly runs: number;
  readonly numeric: number;
  readonly examples: readonly string[];
}

/** The texts a run's details are taken from: run_start, run_end, pipeline_start, session spans. */
export interface PayloadRecord {
  readonly group_key: string;
  readonly type: string;
  readonly worker: string;
  readonly ts_ns: string;
  readonly payload: string;
}

export interface StoredFile {
  readonly name: string;
  readonly size: string;
  readonly sha256: string;
  readonly contentType: string;
  readonly receivedNs: string;
}

export interface TensorValues {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly total: number;
  /** Integers of 64 bits are bigints. */
  readonly values: readonly (number | bigint)[];
  readonly histogram: {
    readonly bins: readonly number[];
    readonly counts: readonly number[];
    readonly nan: number;
    readonly infinite: number;
  } | null;
}

/** Bytes that lie in the blob store. */
export interface FileReads {
  /** A snapshot's tensor out of its span's file; a reason when it cannot be read, null when there is no file. */
  tensorValues(
    workspace: string,
    snapshot: { readonly id: string; readonly span: string; readonly tensor: string },
    wish: { readonly offset: number; readonly limit: number; readonly bins: number | null },
  ): Promise<TensorValues | { readonly reason: string } | null>;
  /** By `weights`, `gradients` or the id of a snapshot that is in one of these files. */
  blob(workspace: string, span: string, name: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Files stored for a run under any of its names. */
  artifacts(workspace: string, runs: readonly string[]): Promise<StoredFile[]>;
  artifact(workspace: string, runs: readonly string[], name: string): Promise<AsyncIterable<Uint8Array> | null>;
}
