// metric and metric_batch to rows of one table: a row per value; those of a batch share step, epoch and context.

import { ByteWriter } from "#base/byte-writer.ts";
import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { parseDouble } from "#base/json/number.ts";
import { decodeAscii } from "#base/json/text.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { EventColumns } from "./event-columns.ts";
import { type EventParts, presentField, pushEventRow, RowNotes } from "./event-rows.ts";
import { type Field, integerOf, isInteger64, pickFields, readFieldsInSteps, textOf } from "./fields.ts";

const metricNames = ["run_id", "key", "value", "step", "epoch", "ctx"];
const batchNames = ["run_id", "metrics", "step", "epoch", "ctx"];
const noBytes = new Uint8Array(0);
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** What all rows of one event share. */
interface Shared {
  readonly event: number;
  readonly step: bigint | undefined;
  readonly stepText: string;
  readonly epoch: bigint | undefined;
  readonly phase: string;
  readonly ctx: string;
  readonly extra: Uint8Array;
  readonly isRaw: boolean;
  readonly flags: number;
}

const stepRows = 1024;

/** Pushes a single metric or all entries of a batch, with pauses among many; a batch without entries is kept as an event. */
export function* pushMetricRows(columns: EventColumns, parts: EventParts, event: number): Generator<void, void> {
  const { bytes, p } = parts;
  if (parts.type === "metric") {
    const notes = new RowNotes(parts, true);
    const field = p.fields.get("key") as Field;
    notes.noteTexts([field]);
    const key = notes.text(field);
    const shared = yield* readShared(parts, notes, event, metricNames);
    pushRow(columns, parts, shared, -1, key, p.fields.get("value") as Field);
    return;
  }
  const field = p.fields.get("metrics") as Field;
  const metrics = yield* readFieldsInSteps(bytes, field.start, field.end);
  if (metrics.fields.size === 0) {
    yield* pushEventRow(columns, parts, event);
    return;
  }
  const notes = new RowNotes(parts, true);
  if (metrics.duplicates) notes.isRaw = true;
  notes.noteTexts(metrics.fields.keys());
  const shared = yield* readShared(parts, notes, event, batchNames);
  let entry = 0;
  for (const [key, value] of metrics.fields) {
    if (entry > 0 && entry % stepRows === 0) yield;
    pushRow(columns, parts, shared, entry, notes.plainText(key), value);
    entry++;
  }
}

function* readShared(
  parts: EventParts,
  notes: RowNotes,
  event: number,
  known: readonly string[],
): Generator<void, Shared> {
  const { bytes, p } = parts;
  yield* notes.keepUnknown(p, known, parts.type === "metric" ? "value" : "");
  const step = presentField(p.fields.get("step"));
  const epoch = presentField(p.fields.get("epoch"));
  const isOddStep = step !== undefined && !isInteger64(bytes, step);
  const isOddEpoch = epoch !== undefined && !isInteger64(bytes, epoch);
  if (isOddEpoch) notes.keep(epoch);
  if (isOddStep || isOddEpoch) notes.flags |= rowFlags.odd_step;
  const context = yield* readContext(parts, notes);
  const extra = yield* notes.extra();
  return {
    event,
    step: step && toWhole(bytes, step),
    stepText: isOddStep ? utf8.decode(bytes.subarray(step.start, step.end)) : "",
    epoch: epoch && toWhole(bytes, epoch),
    ...context,
    extra,
    isRaw: notes.isRaw,
    flags: notes.flags,
  };
}

function toWhole(bytes: Uint8Array, field: Field): bigint | undefined {
  const value = integerOf(bytes, field);
  return value === undefined ? undefined : BigInt(value);
}

/** `phase` has a column of its own; everything else of the context stays JSON. */
function* readContext(parts: EventParts, notes: RowNotes): Generator<void, { phase: string; ctx: string }> {
  const field = presentField(parts.p.fields.get("ctx"));
  if (field === undefined) return { phase: "", ctx: "" };
  const context = yield* readFieldsInSteps(parts.bytes, field.start, field.end);
  if (context.duplicates) notes.isRaw = true;
  const phase = context.fields.get("phase");
  const hasColumn = phase?.kind === jsonKind.string && !phase.lone && textOf(parts.bytes, phase) !== "";
  const rest = yield* pickFields(context, (member) => member !== phase || !hasColumn);
  return {
    phase: hasColumn ? notes.text(phase) : "",
    ctx: hasColumn && rest.length === 0 ? "" : yield* formatObject(parts, rest),
  };
}

function* formatObject({ bytes, strict }: EventParts, fields: readonly Field[]): Generator<void, string> {
  const writer = new ByteWriter(64);
  yield* strict.writeObject(writer, bytes, fields);
  return utf8.decode(writer.view());
}

function pushRow(
  columns: EventColumns,
  parts: EventParts,
  shared: Shared,
  entry: number,
  key: string,
  value: Field,
): void {
  const { bytes } = parts;
  const { rows } = columns.metrics;
  const row = columns.metrics.event.length;
  columns.metrics.event.push(shared.event);
  rows.key.push(key);
  rows.phase.push(shared.phase);
  if (shared.step === undefined) rows.step.pushNull();
  else rows.step.present().pushBigInt(shared.step);
  if (shared.epoch === undefined) rows.epoch.pushNull();
  else rows.epoch.present().pushBigInt(shared.epoch);
  const number = toMetricNumber(bytes, value.start, value.end, value.kind, value.form);
  if (number.value === null) rows.value.pushNull();
  else rows.value.present().push(number.value);
  rows.entry.push(entry);
  rows.ctx.push(shared.ctx);
  rows.flags.push(shared.flags | (number.isExact ? 0 : rowFlags.odd_value));
  // These columns are nearly always empty: the fast path does not touch them, so they are padded here first.
  rows.step_text.padTo(row);
  rows.step_text.push(shared.stepText);
  rows.value_text.padTo(row);
  if (number.isExact) rows.value_text.push("");
  else rows.value_text.pushBytes(bytes, value.start, value.end);
  rows.extra.padTo(row);
  rows.extra.pushBytes(entry <= 0 ? shared.extra : noBytes);
  rows.raw.padTo(row);
  if (entry <= 0 && shared.isRaw) rows.raw.pushBytes(bytes, parts.start, parts.end);
  else rows.raw.push("");
}

// Metric values as the store keeps them: the nearest double, and the literal beside it when that says more.

interface MetricNumber {
  /** null when the value is not a number. */
  readonly value: number | null;
  readonly isExact: boolean;
}

const smallestNormal = 2.2250738585072014e-308;
const notNumber: MetricNumber = { value: null, isExact: false };

/** The value whose text is bytes[start..end). */
function toMetricNumber(bytes: Uint8Array, start: number, end: number, kind: number, form: number): MetricNumber {
  if (kind !== jsonKind.number) return notNumber;
  const value = parseDouble(bytes, start, end, form);
  if (form === numberForm.nonFinite) return { value, isExact: true };
  // 15 characters hold at most 15 digits, which come back unchanged from a normal double.
  if (end - start <= 15 && (form === numberForm.integer || Math.abs(value) >= smallestNormal))
    return { value, isExact: Number.isFinite(value) };
  return { value, isExact: isLiteral(value, decodeAscii(bytes, start, end), form) };
}

/** Whether the double, printed with as many digits or as few as it needs, is the literal again. */
function isLiteral(value: number, literal: string, form: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (form === numberForm.integer) return BigInt(value) === BigInt(literal);
  const decimal = toDecimal(literal);
  const digits = Math.max(1, decimal.digits.length);
  if (digits > 100) return false;
  if (digits <= 15 && Math.abs(value) >= smallestNormal) return true;
  // Halfway between two texts, toPrecision and the shortest form may differ; either is exact.
  return isSame(toDecimal(value.toPrecision(digits)), decimal) || isSame(toDecimal(String(value)), decimal);
}

function isSame(a: Decimal, b: Decimal): boolean {
  return a.digits === b.digits && (a.digits === "" || a.exponent === b.exponent);
}

interface Decimal {
  /** Without leading and trailing zeros; '' for zero. */
  readonly digits: string;
  /** Power of ten of the last digit. */
  readonly exponent: number;
}

function toDecimal(literal: string): Decimal {
  const [mantissa = "", power = "0"] = literal.replace(/^-/, "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) };
}
