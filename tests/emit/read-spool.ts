// A reader of Cirron spool folders written from the document alone, and strict: every key must be there,
// in the right type, and no other. It shares no code with the SDK.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface ReadSpan {
  id: string;
  name: string;
  parent_id: string | null;
  index: number | null;
  start_ns: bigint;
  end_ns: bigint;
  cpu_ns: null;
  gpu_ns: number | null;
  memory_peak_bytes: number | null;
  thread_id: number;
  pid: number;
  rank: number;
  attrs: Record<string, unknown>;
  mark_ids: string[];
}

interface ReadMark {
  id: string;
  span_id: string;
  name: string;
  value_type: "float" | "int" | "string" | "bool";
  value: unknown;
  /** The value as it stands in the file. */
  valueText: string;
  attrs: Record<string, unknown>;
  ts_ns: bigint;
  kind: "point" | "summary";
}

interface ReadSnapshot {
  id: string;
  span_id: string;
  tensor_name: string;
  shape: number[];
  dtype: string;
  mode: "stats" | "sampled" | "full";
  stats: Record<"mean" | "std" | "min" | "max" | "norm", number> & {
    histogram: { bins: number[]; counts: number[] };
  };
  blob_uri: string | null;
  ts_ns: bigint;
  attrs: Record<string, unknown>;
}

export interface ReadTrace {
  files: string[];
  spans: ReadSpan[];
  marks: ReadMark[];
  snapshots: ReadSnapshot[];
}

const hex32 = /^[0-9a-f]{32}$/;

/** All batches of `<folder>/spool`, in the order of their names. */
export function readSpool(folder: string): ReadTrace {
  const spool = join(folder, "spool");
  const files = readdirSync(spool).sort();
  const trace: ReadTrace = { files, spans: [], marks: [], snapshots: [] };
  for (const name of files) {
    const match = /^([0-9]{20})-([0-9a-f]{32})\.json$/.exec(name);
    assert.ok(match, `name of ${name}`);
    const batch = readBatch(readFileSync(join(spool, name), "utf8"));
    assert.equal(batch.batch_id, match[2]);
    assert.equal(batch.created_ns, BigInt(match[1] as string));
    trace.spans.push(...batch.spans);
    trace.marks.push(...batch.marks);
    trace.snapshots.push(...batch.snapshots);
  }
  return trace;
}

export function readBatch(text: string) {
  const batch = parseExact(text) as Record<string, unknown>;
  const { open_spans: open, ...documented } = batch;
  checkKeys(documented, ["schema_version", "sdk_version", "batch_id", "created_ns", "spans", "marks", "snapshots"]);
  // Ours, beside what the document has; other readers pass over it.
  for (const span of (open ?? []) as object[]) checkKeys(span, ["id", "name", "parent_id", "start_ns", "rank"]);
  assert.equal(batch["schema_version"], 1);
  assert.match(batch["sdk_version"] as string, /^0\.\d+\.\d+/);
  assert.match(batch["batch_id"] as string, hex32);
  const spans = (batch["spans"] as ReadSpan[]).map(checkSpan);
  const marks = (batch["marks"] as ReadMark[]).map(checkMark);
  const snapshots = (batch["snapshots"] as ReadSnapshot[]).map(checkSnapshot);
  return {
    batch_id: batch["batch_id"] as string,
    created_ns: toBigInt(batch["created_ns"]),
    sdk_version: batch["sdk_version"] as string,
    spans,
    marks,
    snapshots,
    open: ((open ?? []) as { name: string }[]).map(({ name }) => name),
  };
}

function checkSpan(span: ReadSpan): ReadSpan {
  checkKeys(span, [
    "id",
    "name",
    "parent_id",
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
  ]);
  assert.match(span.id, hex32);
  assert.equal(typeof span.name, "string");
  if (span.parent_id !== null) assert.match(span.parent_id, hex32);
  if (span.index !== null) assert.ok(Number.isSafeInteger(span.index));
  const start_ns = toBigInt(span.start_ns);
  const end_ns = toBigInt(span.end_ns);
  assert.ok(end_ns >= start_ns);
  assert.equal(span.cpu_ns, null);
  for (const value of [span.gpu_ns, span.memory_peak_bytes]) assert.ok(value === null || Number.isSafeInteger(value));
  for (const value of [span.thread_id, span.pid, span.rank]) assert.ok(Number.isSafeInteger(value));
  checkObject(span.attrs);
  for (const id of span.mark_ids) assert.match(id, hex32);
  return { ...span, start_ns, end_ns };
}

function checkMark(mark: ReadMark): ReadMark {
  checkKeys(mark, ["id", "span_id", "name", "value_type", "value", "attrs", "ts_ns", "kind"]);
  assert.match(mark.id, hex32);
  if (mark.span_id !== "root") assert.match(mark.span_id, hex32);
  assert.equal(typeof mark.name, "string");
  const valueText = mark.value instanceof NumberSource ? mark.value.text : JSON.stringify(mark.value);
  const value = mark.value instanceof NumberSource ? mark.value.number : mark.value;
  switch (mark.value_type) {
    case "float":
      assert.equal(typeof value, "number");
      assert.match(valueText, /[.eE]/, "a float reads back as a float in any language");
      break;
    case "int":
      assert.match(valueText, /^-?\d+$/);
      break;
    case "string":
      assert.equal(typeof value, "string");
      assert.ok(Buffer.byteLength(value as string) <= 256);
      break;
    case "bool":
      assert.equal(typeof value, "boolean");
      break;
    default:
      assert.fail(`value_type ${mark.value_type}`);
  }
  checkObject(mark.attrs);
  assert.ok(mark.kind === "point" || mark.kind === "summary");
  return { ...mark, value, valueText, ts_ns: toBigInt(mark.ts_ns) };
}

function checkSnapshot(snap: ReadSnapshot): ReadSnapshot {
  checkKeys(snap, ["id", "span_id", "tensor_name", "shape", "dtype", "mode", "stats", "blob_uri", "ts_ns", "attrs"]);
  assert.match(snap.id, hex32);
  assert.match(snap.span_id, hex32);
  assert.equal(typeof snap.tensor_name, "string");
  assert.equal(typeof snap.dtype, "string");
  for (const size of snap.shape) assert.ok(Number.isSafeInteger(size) && size >= 0);
  checkKeys(snap.stats, ["mean", "std", "min", "max", "norm", "histogram"]);
  checkKeys(snap.stats.histogram, ["bins", "counts"]);
  assert.equal(snap.stats.histogram.bins.length, 17);
  assert.equal(snap.stats.histogram.counts.length, 16);
  for (const count of snap.stats.histogram.counts) assert.ok(Number.isSafeInteger(count) && count >= 0);
  if (snap.mode === "stats") assert.equal(snap.blob_uri, null);
  else assert.match(snap.blob_uri as string, /^file:\/\/\/.+\/(weights|gradients)\.safetensors$/);
  checkObject(snap.attrs);
  return { ...snap, ts_ns: toBigInt(snap.ts_ns) };
}

/** Reads a safetensors file by its published layout and returns the raw bytes of each tensor. */
export function readSafetensors(uri: string) {
  const file = readFileSync(uri.startsWith("file:") ? fileURLToPath(uri) : uri);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString("utf8", 8, 8 + headerBytes)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, { dtype: string; shape: number[]; bytes: Buffer }>();
  let covered = 0;
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    const [begin, end] = data_offsets;
    covered += end - begin;
    tensors.set(name, { dtype, shape, bytes: file.subarray(8 + headerBytes + begin, 8 + headerBytes + end) });
  }
  assert.equal(8 + headerBytes + covered, file.length, "the tensors fill the file without holes");
  return tensors;
}

class NumberSource {
  readonly text: string;
  readonly number: number;
  constructor(text: string) {
    this.text = text;
    this.number = Number(text);
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

/** Keeps the digits of `…_ns` and `value`, which a double would round. */
function parseExact(text: string): unknown {
  const revive: Reviver = (key, value, { source }) =>
    typeof value === "number" && (key === "value" || key.endsWith("_ns")) && !Number.isSafeInteger(value) && source
      ? new NumberSource(source)
      : typeof value === "number" && key === "value" && source
        ? new NumberSource(source)
        : value;
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1]);
}

function toBigInt(value: unknown): bigint {
  const text = value instanceof NumberSource ? value.text : String(value);
  assert.match(text, /^\d{19}$/, "nanoseconds since the epoch");
  return BigInt(text);
}

function checkKeys(value: object, keys: string[]): void {
  assert.deepEqual(Object.keys(value), keys);
}

function checkObject(value: unknown): void {
  assert.ok(typeof value === "object" && value !== null && !Array.isArray(value));
}
