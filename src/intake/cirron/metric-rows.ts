// Numeric and bool marks are also points of a series, of the same kind as XTrack's metrics.

import { formatJson } from "#base/json/format.ts";
import { parseJson } from "#base/json/parse.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import { createRows, type Rows, rowFlags } from "#model/tables.ts";

const textDecoder = new TextDecoder();
const int64Max = 2n ** 63n - 1n;
const int64Min = -(2n ** 63n);

/** Metric rows of all marks that are kept; group_key and arrival are copied from the mark rows. */
export function toMetricRows(marks: Rows<"marks">, dropped: Uint8Array | null): Rows<"metrics"> {
  const metrics = createRows("metrics");
  for (let row = 0; row < marks.mark_id.length; row++) {
    if (dropped !== null && dropped[row] === 1) continue;
    const value = numberOf(marks, row);
    if (value !== null) pushMetric(metrics, marks, row, value);
  }
  return metrics;
}

interface MarkNumber {
  readonly value: number | null;
  /** The literal, when the double is not exactly it. */
  readonly text: string;
}

function numberOf(marks: Rows<"marks">, row: number): MarkNumber | null {
  switch (marks.value_type.at(row)) {
    case "float":
      if (!marks.value_float.isNull(row)) return { value: marks.value_float.inner.at(row), text: "" };
      return oddNumber(marks, row);
    case "int": {
      if (marks.value_int.isNull(row)) return oddNumber(marks, row);
      const exact = marks.value_int.inner.at(row);
      const value = Number(exact);
      return { value, text: BigInt(value) === exact ? "" : exact.toString() };
    }
    case "bool":
      return marks.value_bool.isNull(row) ? null : { value: marks.value_bool.inner.at(row), text: "" };
    default:
      return null;
  }
}

/** A number that fits neither value column stands in `extra` as it was sent. */
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

function pushMetric(metrics: Rows<"metrics">, marks: Rows<"marks">, row: number, number: MarkNumber): void {
  metrics.group_key.push(marks.group_key.at(row));
  metrics.key.push(marks.name.at(row));
  metrics.worker.push("");
  metrics.phase.push("");
  const place = placeOf(marks, row);
  pushInteger(metrics.step, place.step);
  metrics.step_text.push(place.stepText);
  pushInteger(metrics.epoch, place.epoch);
  copyWords(metrics.ts_ns, marks.ts_ns, row);
  if (number.value === null) metrics.value.pushNull();
  else metrics.value.present().push(number.value);
  metrics.value_text.push(number.text);
  metrics.source.push("cirron");
  metrics.seq.pushWords(0, 0);
  metrics.entry.push(-1);
  metrics.mark_id.pushBytes(marks.mark_id.bytesAt(row));
  metrics.span_id.pushBytes(marks.span_id.bytesAt(row));
  metrics.ctx.push("");
  copyWords(metrics.received_ns, marks.received_ns, row);
  copyWords(metrics.jpos, marks.jpos, row);
  metrics.jrow.push(marks.jrow.at(row));
  metrics.flags.push((number.text === "" ? 0 : rowFlags.odd_value) | (place.stepText === "" ? 0 : rowFlags.odd_step));
  metrics.extra.push("");
  metrics.raw.push("");
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
