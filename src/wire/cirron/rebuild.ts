// A stored row back to the record the client sent, equal in every value: what export and `events` give out.
// The cells may come from columns in memory or from the store; integers may be bigints, numbers or decimal text.
// Fields the client left out come back with the value the document gives them by default.

import { formatDouble, formatJson, type JsonStyle } from "#base/json/format.ts";
import { mergeMembers } from "#base/json/members.ts";
import { rewriteStrict } from "#base/json/strict.ts";
import { formatLongText, type Texts } from "#base/json/texts.ts";
import { rowFlags } from "#model/row-flags.ts";

type Integer = bigint | number | string;

interface TailCells {
  readonly flags: number;
  readonly extra: string;
  readonly raw: string;
}

export interface SpanCells extends TailCells {
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly index: Integer | null;
  readonly start_ns: Integer;
  readonly end_ns: Integer;
  readonly cpu_ns: Integer | null;
  readonly gpu_ns: Integer | null;
  readonly memory_peak_bytes: Integer | null;
  readonly thread_id: Integer | null;
  readonly pid: Integer | null;
  readonly rank: number;
  readonly attrs: string;
  readonly mark_ids: string;
}

export interface MarkCells extends TailCells {
  readonly mark_id: string;
  readonly span_id: string;
  readonly name: string;
  readonly value_type: string;
  readonly value_float: number | null;
  readonly value_int: Integer | null;
  readonly value_string: string | null;
  readonly value_bool: number | boolean | null;
  readonly attrs: string;
  readonly ts_ns: Integer;
  readonly kind: string;
}

export interface SnapshotCells extends TailCells {
  readonly snapshot_id: string;
  readonly span_id: string;
  readonly tensor_name: string;
  readonly shape: string;
  readonly dtype: string;
  readonly mode: string;
  readonly stats: string;
  readonly blob_uri: string | null;
  readonly ts_ns: Integer;
  readonly attrs: string;
}

export function* formatSpan(cells: SpanCells, style: JsonStyle): Generator<void, Texts> {
  const text = textOf(cells);
  return yield* formatRecord(cells, style, {
    id: yield* text(cells.span_id),
    name: yield* text(cells.name),
    parent_id: yield* text(cells.parent_id),
    index: String(cells.index),
    start_ns: String(cells.start_ns),
    end_ns: String(cells.end_ns),
    cpu_ns: String(cells.cpu_ns),
    gpu_ns: String(cells.gpu_ns),
    memory_peak_bytes: String(cells.memory_peak_bytes),
    thread_id: String(cells.thread_id),
    pid: String(cells.pid),
    rank: String(cells.rank),
    attrs: jsonOf(cells.attrs),
    mark_ids: jsonOf(cells.mark_ids),
  });
}

export function* formatMark(cells: MarkCells, style: JsonStyle): Generator<void, Texts> {
  const text = textOf(cells);
  return yield* formatRecord(cells, style, {
    id: yield* text(cells.mark_id),
    span_id: yield* text(cells.span_id),
    name: yield* text(cells.name),
    value_type: yield* text(cells.value_type),
    value: yield* markValue(cells, style),
    attrs: jsonOf(cells.attrs),
    ts_ns: String(cells.ts_ns),
    kind: yield* text(cells.kind),
  });
}

export function* formatSnapshot(cells: SnapshotCells, style: JsonStyle): Generator<void, Texts> {
  const text = textOf(cells);
  return yield* formatRecord(cells, style, {
    id: yield* text(cells.snapshot_id),
    span_id: yield* text(cells.span_id),
    tensor_name: yield* text(cells.tensor_name),
    shape: jsonOf(cells.shape),
    dtype: yield* text(cells.dtype),
    mode: yield* text(cells.mode),
    stats: jsonOf(cells.stats),
    blob_uri: yield* text(cells.blob_uri),
    ts_ns: String(cells.ts_ns),
    attrs: jsonOf(cells.attrs),
  });
}

function formatFloat(value: number, style: JsonStyle): string {
  return Number.isFinite(value) ? formatDouble(value) : formatJson(value, style);
}

function* markValue(cells: MarkCells, style: JsonStyle): Generator<void, string | Texts> {
  if ((cells.flags & rowFlags.nonfinite_word) !== 0) return "null";
  if (cells.value_float !== null) return formatFloat(cells.value_float, style);
  if (cells.value_int !== null) return String(cells.value_int);
  if (cells.value_string !== null) return yield* textOf(cells)(cells.value_string);
  return cells.value_bool === null ? "null" : String(Boolean(cells.value_bool));
}

/** Columns hold '' where the client sent null. */
function jsonOf(text: string): string {
  return text === "" ? "null" : text;
}

/** Text columns of a flagged row hold JSON-escaped text already. */
function textOf(cells: TailCells): (text: string | null) => Generator<void, string | Texts> {
  const isEscaped = (cells.flags & rowFlags.escaped_text) !== 0;
  return function* (text) {
    if (text === null) return "null";
    return isEscaped ? ['"', text, '"'] : yield* formatLongText(text);
  };
}

/** With pauses: a record may be of megabytes. */
function* formatRecord(
  cells: TailCells,
  style: JsonStyle,
  fields: Readonly<Record<string, string | Texts>>,
): Generator<void, Texts> {
  if (cells.raw !== "") return [style === "lossless" ? cells.raw : toStrictText(cells.raw)];
  return yield* mergeMembers(new Map(Object.entries(fields)), cells.extra);
}

function toStrictText(text: string): string {
  const bytes = textEncoder.encode(text);
  return textDecoder.decode(rewriteStrict(bytes, 0, bytes.length));
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
