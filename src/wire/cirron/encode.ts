// Cirron records → the JSON bytes of the spool and of POST /v1/traces (schema version 1).
// Fields come in the order of the document. Arguments named `…Json` are JSON text already. Ids are
// 20 hex digits of their maker and 12 of a counter; times are seconds and nanoseconds since the epoch,
// because one double cannot hold them.

import { type ByteWriter, toAscii } from "#base/byte-writer.ts";

export type MarkKind = "point" | "summary";
export type MarkType = "float" | "int" | "string" | "bool";
export type SnapshotMode = "stats" | "sampled" | "full";

export const cirronSchemaVersion = 1;

/** The first 20 hex digits of every id one thread makes. */
export type IdPrefix = Uint8Array;

const quoteByte = 0x22;
const commaByte = 0x2c;
const nullText = toAscii("null");
const spanParts = [
  '{"id":"',
  '","name":',
  ',"parent_id":',
  ',"index":',
  ',"start_ns":',
  ',"end_ns":',
  ',"cpu_ns":null,"gpu_ns":',
  ',"memory_peak_bytes":',
  ',"attrs":',
  ',"mark_ids":[',
  "]}",
].map(toAscii) as [Uint8Array, ...Uint8Array[]];
const markStart = toAscii('{"id":"');
const markSpan = toAscii('","span_id":"');
const markName = toAscii('","name":');
const markTypes: Readonly<Record<MarkType, Uint8Array>> = {
  float: toAscii(',"value_type":"float","value":'),
  int: toAscii(',"value_type":"int","value":'),
  string: toAscii(',"value_type":"string","value":'),
  bool: toAscii(',"value_type":"bool","value":'),
};
const markAttrs = toAscii(',"attrs":');
const markTime = toAscii(',"ts_ns":');
const markKinds: Readonly<Record<MarkKind, Uint8Array>> = {
  point: toAscii(',"kind":"point"}'),
  summary: toAscii(',"kind":"summary"}'),
};
const rootId = toAscii("root");

export interface SpanRow {
  readonly counter: number;
  readonly nameJson: string;
  /** 0: no parent. */
  readonly parentCounter: number;
  readonly index: number | null;
  readonly startSeconds: number;
  readonly startNanos: number;
  readonly endSeconds: number;
  readonly endNanos: number;
  readonly gpuNs: number | null;
  readonly memoryPeakBytes: number | null;
  readonly attrsJson: string;
  /** Counters of the span's marks as pairs first, last. */
  readonly markRanges: readonly number[] | null;
}

/** What all spans of a thread have in common, encoded once. */
export interface SpanOrigin {
  /** `,"thread_id":…,"pid":…,"rank":…` */
  readonly fields: Uint8Array;
  /** Everything from `cpu_ns` to `"attrs":`, for spans without accelerator time and memory peak, which are nearly all. */
  readonly plain: Uint8Array;
}

export function encodeSpanOrigin(threadId: number, pid: number, rank: number): SpanOrigin {
  const fields = `,"thread_id":${threadId},"pid":${pid},"rank":${rank}`;
  const plain = `,"cpu_ns":null,"gpu_ns":null,"memory_peak_bytes":null${fields},"attrs":`;
  return { fields: toAscii(fields), plain: toAscii(plain) };
}

export function encodeSpan(
  out: ByteWriter,
  spanPrefix: IdPrefix,
  markPrefix: IdPrefix,
  origin: SpanOrigin,
  row: SpanRow,
): void {
  const [start, name, parent, index, startNs, endNs, gpuNs, memory, attrs, markIds, end] = spanParts;
  out.raw(start);
  encodeId(out, spanPrefix, row.counter);
  out.raw(name as Uint8Array);
  out.text(row.nameJson);
  out.raw(parent as Uint8Array);
  if (row.parentCounter === 0) out.raw(nullText);
  else {
    out.byte(quoteByte);
    encodeId(out, spanPrefix, row.parentCounter);
    out.byte(quoteByte);
  }
  out.raw(index as Uint8Array);
  encodeNumber(out, row.index);
  out.raw(startNs as Uint8Array);
  encodeTime(out, row.startSeconds, row.startNanos);
  out.raw(endNs as Uint8Array);
  encodeTime(out, row.endSeconds, row.endNanos);
  if (row.gpuNs === null && row.memoryPeakBytes === null) out.raw(origin.plain);
  else {
    out.raw(gpuNs as Uint8Array);
    encodeNumber(out, row.gpuNs);
    out.raw(memory as Uint8Array);
    encodeNumber(out, row.memoryPeakBytes);
    out.raw(origin.fields);
    out.raw(attrs as Uint8Array);
  }
  out.text(row.attrsJson);
  out.raw(markIds as Uint8Array);
  if (row.markRanges !== null) encodeIdRanges(out, markPrefix, row.markRanges);
  out.raw(end as Uint8Array);
}

/** The offset, in a mark's head, of the twelve digits that differ from mark to mark. */
export const markCounterOffset: number = markStart.length + 20;

/** Everything up to the value; `spanCounter` 0 is the document's "root". */
export function encodeMarkHead(
  out: ByteWriter,
  markPrefix: IdPrefix,
  counter: number,
  spanPrefix: IdPrefix,
  spanCounter: number,
  nameJson: string,
  type: MarkType,
): void {
  out.raw(markStart);
  encodeId(out, markPrefix, counter);
  out.raw(markSpan);
  if (spanCounter === 0) out.raw(rootId);
  else encodeId(out, spanPrefix, spanCounter);
  out.raw(markName);
  out.text(nameJson);
  out.raw(markTypes[type]);
}

/** Everything after the value. */
export function encodeMarkTail(
  out: ByteWriter,
  attrsJson: string,
  seconds: number,
  nanos: number,
  kind: MarkKind,
): void {
  out.raw(markAttrs);
  out.text(attrsJson);
  out.raw(markTime);
  encodeTime(out, seconds, nanos);
  out.raw(markKinds[kind]);
}

export interface SnapshotText {
  readonly id: string;
  readonly spanId: string;
  readonly nameJson: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly mode: SnapshotMode;
  readonly statsJson: string;
  readonly blobUriJson: string;
  readonly tsNs: string;
  readonly attrsJson: string;
}

export function formatSnapshot(snap: SnapshotText): string {
  return `{"id":"${snap.id}","span_id":"${snap.spanId}","tensor_name":${snap.nameJson},"shape":[${snap.shape.join(",")}],"dtype":"${snap.dtype}","mode":"${snap.mode}","stats":${snap.statsJson},"blob_uri":${snap.blobUriJson},"ts_ns":${snap.tsNs},"attrs":${snap.attrsJson}}`;
}

export interface BatchHead {
  readonly sdkVersion: string;
  readonly batchId: string;
  readonly createdNs: string;
}

/** A batch is this, spans joined by commas, `batchMarks`, marks, `batchSnapshots`, snapshots, `batchEnd`. */
export function formatBatchHead(head: BatchHead): string {
  return `{"schema_version":${cirronSchemaVersion},"sdk_version":${JSON.stringify(head.sdkVersion)},"batch_id":"${head.batchId}","created_ns":${head.createdNs},"spans":[`;
}

export const batchMarks: Uint8Array = toAscii('],"marks":[');
export const batchSnapshots: Uint8Array = toAscii('],"snapshots":[');
export const batchEnd: Uint8Array = toAscii("]}");

export interface OpenSpanText {
  readonly id: string;
  readonly parentId: string | null;
  readonly nameJson: string;
  readonly startNs: string;
  readonly rank: number;
}

/** `batchEnd` of a batch that also says which spans are open. Readers of the document's fields pass over it. */
export function formatBatchEnd(open: readonly OpenSpanText[]): string {
  const spans = open.map(
    ({ id, parentId, nameJson, startNs, rank }) =>
      `{"id":"${id}","name":${nameJson},"parent_id":${parentId === null ? "null" : `"${parentId}"`},"start_ns":${startNs},"rank":${rank}}`,
  );
  return `],"open_spans":[${spans.join(",")}]}`;
}

export type SentinelType = "trace_batch" | "trace_blob";

/** A stdout line for a capturing parent process is this, the payload (a batch or a blob's place), `sentinelEnd`. */
export function formatSentinelHead(type: SentinelType, sdkVersion: string): string {
  return `{"__cirron_event__":"${type}","schema_version":${cirronSchemaVersion},"sdk_version":${JSON.stringify(sdkVersion)},"payload":`;
}

export const sentinelEnd = "}\n";

/** `<created_ns>-<batch_id>.json` with 20 digits, so that names sort by time. */
export function formatSpoolName(createdNs: string, batchId: string): string {
  return `${createdNs.padStart(20, "0")}-${batchId}.json`;
}

function encodeId(out: ByteWriter, prefix: IdPrefix, counter: number): void {
  out.raw(prefix);
  out.twelveHexDigits(counter);
}

// Rows of one batch mostly share their second.
let lastSeconds = -1;
let lastSecondsText: Uint8Array = new Uint8Array();

function encodeTime(out: ByteWriter, seconds: number, nanos: number): void {
  if (seconds !== lastSeconds) {
    lastSeconds = seconds;
    lastSecondsText = toAscii(String(seconds));
  }
  out.raw(lastSecondsText);
  out.nineDigits(nanos);
}

function encodeNumber(out: ByteWriter, value: number | null): void {
  if (value === null) out.raw(nullText);
  else out.text(String(value));
}

function encodeIdRanges(out: ByteWriter, prefix: IdPrefix, ranges: readonly number[]): void {
  for (let i = 0; i < ranges.length; i += 2) {
    const last = ranges[i + 1] as number;
    for (let counter = ranges[i] as number; counter <= last; counter++) {
      if (i > 0 || counter !== ranges[0]) out.byte(commaByte);
      out.byte(quoteByte);
      encodeId(out, prefix, counter);
      out.byte(quoteByte);
    }
  }
}
