// Numeric and bool marks are also points of a series, of the same kind as XTrack's metrics.

import type { StringColumn } from "#base/columns.ts";
import { formatJson } from "#base/json/format.ts";
import { membersOf } from "#base/json/members.ts";
import { parseDigitsOnly } from "#base/json/number.ts";
import { parseJson } from "#base/json/parse.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import { rowFlags } from "#model/row-flags.ts";
import { createRows, type Rows } from "#model/tables.ts";

const textDecoder = new TextDecoder();
const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

const pauseRows = 4096;

/** Metric rows of all marks that are kept; group_key and arrival are copied from the mark rows. */
export function* toMetricRows(marks: Rows<"marks">, dropped: Uint8Array | null): Generator<void, Rows<"metrics">> {
  const metrics = createRows("metrics");
  const count = marks.mark_id.length;
  if (count === 0) return metrics;
  const source = { marks, kinds: marks.value_type.keys, ids: viewOf(marks.mark_id), spanIds: viewOf(marks.span_id) };
  for (let row = 0; row < count; row++) {
    if (row % pauseRows === pauseRows - 1) yield;
    if (dropped !== null && dropped[row] === 1) continue;
    const value = numberOf(marks, source.kinds[marks.value_type.codes[row] as number] as string, row);
    if (value !== null) pushMetric(metrics, source, row, value);
  }
  padShared(metrics, marks);
  return metrics;
}

interface Source {
  readonly marks: Rows<"marks">;
  readonly kinds: readonly string[];
  readonly ids: DataView;
  readonly spanIds: DataView;
}

function viewOf({ bytes }: StringColumn): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

interface MarkNumber {
  readonly value: number | null;
  /** The literal, when the double is not exactly it. */
  readonly text: string;
}

/** A number is the usual case and is passed alone; its literal is passed only where it is needed. */
function numberOf(marks: Rows<"marks">, kind: string, row: number): number | MarkNumber | null {
  switch (kind) {
    case "float": {
      if (marks.value_float.isNull(row)) return oddNumber(marks, row);
      const value = marks.value_float.inner.at(row);
      return value === 0 || !Number.isFinite(value) ? (outOfRange(marks, row) ?? value) : value;
    }
    case "int": {
      if (marks.value_int.isNull(row)) return oddNumber(marks, row);
      const exact = marks.value_int.inner.at(row);
      const value = Number(exact);
      return BigInt(value) === exact ? value : { value, text: exact.toString() };
    }
    case "bool":
      return marks.value_bool.isNull(row) ? null : marks.value_bool.inner.at(row);
    default:
      return null;
  }
}

/** A literal such as 1e400, of which a double keeps nothing, is in the record's text, which is kept for this reason. */
function outOfRange(marks: Rows<"marks">, row: number): MarkNumber | null {
  const record = marks.raw.at(row);
  const literal = record === "" ? undefined : membersOf(record).get("value");
  return literal !== undefined && /^-?\d/.test(literal) ? { value: Number(literal), text: literal } : null;
}

/** A number that fits neither value column is in `extra` as it was sent. */
function oddNumber(marks: Rows<"marks">, row: number): MarkNumber | null {
  const text = marks.extra.at(row);
  if (text === "") return null;
  const parsed = parseJson(text);
  const value = parsed.ok ? field(parsed.value, "value") : undefined;
  if (value === undefined || value === null || Array.isArray(value)) return null;
  if (typeof value === "number") return { value, text: "" };
  if (typeof value === "bigint") return { value: Number(value), text: value.toString() };
  if (value instanceof NumberText) return { value: Number(value.text), text: value.text };
  return null;
}

function pushMetric(metrics: Rows<"metrics">, source: Source, row: number, number: number | MarkNumber): void {
  const { marks, ids, spanIds } = source;
  const at = metrics.key.length;
  metrics.key.push(marks.name.at(row));
  copyWords(metrics.ts_ns, marks.ts_ns, row);
  pushText(metrics.mark_id, marks.mark_id, ids, row);
  pushText(metrics.span_id, marks.span_id, spanIds, row);
  metrics.jrow.push(marks.jrow.at(row));
  let flags = 0;
  if (typeof number === "number") metrics.value.present().push(number);
  else {
    if (number.value === null) metrics.value.pushNull();
    else metrics.value.present().push(number.value);
    metrics.value_text.padTo(at);
    metrics.value_text.push(number.text);
    if (number.text !== "") flags |= rowFlags.odd_value;
  }
  const plainStep = plainStepOf(marks.attrs, row);
  if (plainStep >= 0) {
    metrics.step.padTo(at);
    metrics.step.present().pushNumber(plainStep);
  } else if (plainStep === notPlain && pushPlace(metrics, marks, row, at)) flags |= rowFlags.odd_step;
  metrics.flags.push(flags);
}

/** Fills what is the same in every row, and the cells that were left empty. */
function padShared(metrics: Rows<"metrics">, marks: Rows<"marks">): void {
  const count = metrics.key.length;
  metrics.group_key.padTo(count, marks.group_key.at(0));
  metrics.worker.padTo(count, "");
  metrics.phase.padTo(count, "");
  metrics.step.padTo(count);
  metrics.step_text.padTo(count);
  metrics.epoch.padTo(count);
  metrics.value_text.padTo(count);
  metrics.source.padTo(count, "cirron");
  metrics.seq.padZerosTo(count);
  metrics.entry.padTo(count, -1);
  metrics.ctx.padTo(count, "");
  metrics.received_ns.padTo(count, marks.received_ns.at(0));
  metrics.jpos.padTo(count, marks.jpos.at(0));
  metrics.extra.padTo(count);
  metrics.raw.padTo(count);
}

function pushText(target: StringColumn, source: StringColumn, view: DataView, row: number): void {
  target.pushView(view, row === 0 ? 0 : (source.ends[row - 1] as number), source.ends[row] as number);
}

const stepHead = new TextEncoder().encode('{"step":');
const [digitZero, closingBrace] = [0x30, 0x7d];
const noAttrs = -1;
const notPlain = -2;

/** The step of attrs that are just `{"step":12}`, as most are; else whether there are none, or they must be parsed. */
function plainStepOf({ bytes, ends }: StringColumn, row: number): number {
  const start = row === 0 ? 0 : (ends[row - 1] as number);
  const last = (ends[row] as number) - 1;
  if (last - start < 2) return noAttrs;
  let at = start;
  for (const byte of stepHead) if (bytes[at++] !== byte) return notPlain;
  // Digits after a leading zero are not a number.
  if (bytes[last] !== closingBrace || (bytes[at] === digitZero && last - at > 1)) return notPlain;
  const step = parseDigitsOnly(bytes, at, last);
  return step < 0 ? notPlain : step;
}

/** Pushes step and epoch from any other attrs. Returns whether the step is odd. */
function pushPlace(metrics: Rows<"metrics">, marks: Rows<"marks">, row: number, at: number): boolean {
  const place = placeOf(marks, row);
  if (place === nowhere) return false;
  metrics.step.padTo(at);
  pushInteger(metrics.step, place.step);
  metrics.step_text.padTo(at);
  metrics.step_text.push(place.stepText);
  metrics.epoch.padTo(at);
  pushInteger(metrics.epoch, place.epoch);
  return place.stepText !== "";
}

interface Place {
  readonly step: bigint | number | null;
  readonly stepText: string;
  readonly epoch: bigint | number | null;
}

const nowhere: Place = { step: null, stepText: "", epoch: null };

function placeOf(marks: Rows<"marks">, row: number): Place {
  const bytes = marks.attrs.bytesAt(row);
  if (bytes.length <= 2) return nowhere;
  const text = textDecoder.decode(bytes);
  if (!text.includes('"step"') && !text.includes('"epoch"')) return nowhere;
  const parsed = parseJson(bytes);
  if (!parsed.ok) return nowhere;
  const step = field(parsed.value, "step");
  const epoch = field(parsed.value, "epoch");
  return {
    step: toInteger(step),
    stepText: step === undefined || step === null || toInteger(step) !== null ? "" : toText(step),
    epoch: toInteger(epoch),
  };
}

function field(value: JsonValue, name: string): JsonValue | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, JsonValue>)[name] : undefined;
}

function toInteger(value: JsonValue | undefined): bigint | number | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : null;
  if (typeof value === "bigint") return value >= int64Min && value <= int64Max ? value : null;
  return null;
}

function toText(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  return typeof value === "object" ? formatJson(value, "strict") : String(value);
}

function pushInteger(column: Rows<"metrics">["step"], value: bigint | number | null): void {
  if (value === null) column.pushNull();
  else if (typeof value === "bigint") column.present().pushBigInt(value);
  else column.present().pushNumber(value);
}

function copyWords(target: Rows<"metrics">["ts_ns"], source: Rows<"marks">["ts_ns"], row: number): void {
  target.pushWords(source.words[row * 2] as number, source.words[row * 2 + 1] as number);
}
