// One column of a Native block out of the same column of many `Rows`.
//
// Data layouts (after the column's name and type):
//   fixed      the values back to back, little-endian
//   String     varint length, then the bytes, for each row
//   Nullable   one byte a row (1 = null), then the inner column with a zero value at each null
//   Array      u64 running end of each row's items, then all items as a column of their own

import type {
  ArrayColumn,
  Float64Column,
  Int32Column,
  Int64Column,
  NullableColumn,
  StringColumn,
  UInt8Column,
  UInt32Column,
} from "#base/columns.ts";
import { copyBytes } from "#base/copy-bytes.ts";
import type { AnyColumn, ColumnType } from "#model/tables.ts";
import type { ByteSink } from "./byte-sink.ts";

/** Rows [start, end) of the part-th column are kept. */
export interface Run {
  readonly part: number;
  readonly start: number;
  readonly end: number;
}

type Parts<C> = readonly C[];

/** A column of any type but LowCardinality, for which see encode-dict.ts. */
export function encodeColumn(sink: ByteSink, type: string, parts: readonly AnyColumn[], runs: readonly Run[]): void {
  switch (type as ColumnType) {
    case "String":
      encodeStrings(sink, parts as Parts<StringColumn>, runs);
      break;
    case "Int64":
      encodeInt64(sink, parts as Parts<Int64Column>, runs);
      break;
    case "Int32":
    case "UInt32":
    case "UInt8":
    case "Float64":
      encodeFixed(sink, parts as Parts<Int32Column | UInt32Column | UInt8Column | Float64Column>, runs);
      break;
    case "Nullable(String)":
    case "Nullable(Int64)":
    case "Nullable(Float64)":
    case "Nullable(UInt8)":
      encodeNullable(sink, type.slice(9, -1), parts as Parts<NullableColumn<StringColumn>>, runs);
      break;
    case "Array(Float64)":
    case "Array(String)":
      encodeArray(sink, type.slice(6, -1), parts as Parts<ArrayColumn<StringColumn>>, runs);
      break;
  }
}

export function rowCount(runs: readonly Run[]): number {
  let rows = 0;
  for (const run of runs) rows += run.end - run.start;
  return rows;
}

export function viewOf(
  array: Uint32Array | Int32Array | Float64Array | Uint8Array,
  start: number,
  end: number,
): Uint8Array {
  const width = array.BYTES_PER_ELEMENT;
  return new Uint8Array(array.buffer, array.byteOffset + start * width, (end - start) * width);
}

function encodeFixed(
  sink: ByteSink,
  parts: Parts<Int32Column | UInt32Column | UInt8Column | Float64Column>,
  runs: readonly Run[],
): void {
  sink.reserve(rowCount(runs) * 8);
  for (const { part, start, end } of runs) writeValues(sink, (parts[part] as Float64Column).values, start, end);
}

/**
 * A view of a small array moves it out of the runtime's heap, which costs more than writing a few values one by one.
 */
const fewValues = 16;

function writeValues(
  sink: ByteSink,
  values: Uint32Array | Int32Array | Float64Array | Uint8Array,
  start: number,
  end: number,
): void {
  if (end - start > fewValues) sink.writeBytes(viewOf(values, start, end));
  else if (values instanceof Float64Array) for (let at = start; at < end; at++) sink.writeFloat64(values[at] as number);
  else if (values instanceof Uint8Array) for (let at = start; at < end; at++) sink.writeByte(values[at] as number);
  else for (let at = start; at < end; at++) sink.writeUInt32(values[at] as number);
}

function encodeInt64(sink: ByteSink, parts: Parts<Int64Column>, runs: readonly Run[]): void {
  sink.reserve(rowCount(runs) * 8);
  for (const { part, start, end } of runs) {
    writeValues(sink, (parts[part] as Int64Column).words, start * 2, end * 2);
  }
}

function encodeStrings(sink: ByteSink, parts: Parts<StringColumn>, runs: readonly Run[]): void {
  for (const { part, start, end } of runs) {
    const { bytes, ends } = parts[part] as StringColumn;
    if (isAllEmpty(ends, start, end)) {
      sink.reserve(end - start);
      sink.bytes.fill(0, sink.length, sink.length + end - start);
      sink.length += end - start;
      continue;
    }
    let from = start === 0 ? 0 : (ends[start - 1] as number);
    sink.reserve((end - start) * 5 + (ends[end - 1] as number) - from);
    if (end - start <= fewTexts) {
      writeFewTexts(sink, parts[part] as StringColumn, start, end);
      continue;
    }
    const target = sink.bytes;
    const into = new DataView(target.buffer, target.byteOffset, target.length);
    const source = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = sink.length;
    for (let row = start; row < end; row++) {
      const to = ends[row] as number;
      let size = to - from;
      while (size > 127) {
        target[at++] = (size & 127) | 128;
        size >>>= 7;
      }
      target[at++] = size;
      // Short texts are copied four bytes at a time, which beats the call into the runtime's memcpy.
      if (to - from < 64) {
        for (; from + 4 <= to; from += 4, at += 4) into.setInt32(at, source.getInt32(from, true), true);
        while (from < to) target[at++] = bytes[from++] as number;
      } else {
        copyBytes(bytes, from, to, target, at);
        at += to - from;
        from = to;
      }
    }
    sink.length = at;
  }
}

/** For fewer texts, creating the two views of the fast path takes longer than it saves. */
const fewTexts = 4;

function writeFewTexts(sink: ByteSink, { bytes, ends }: StringColumn, start: number, end: number): void {
  let from = start === 0 ? 0 : (ends[start - 1] as number);
  for (let row = start; row < end; row++) {
    const to = ends[row] as number;
    sink.writeVarint(to - from);
    if (to - from < 64) while (from < to) sink.writeByte(bytes[from++] as number);
    else sink.writeBytes(bytes.subarray(from, to));
    from = to;
  }
}

/** `extra`, `raw` and their like are empty almost always. */
function isAllEmpty(ends: Uint32Array, start: number, end: number): boolean {
  return ends[end - 1] === (start === 0 ? 0 : ends[start - 1]);
}

function encodeNullable(
  sink: ByteSink,
  inner: string,
  parts: Parts<NullableColumn<StringColumn>>,
  runs: readonly Run[],
): void {
  sink.reserve(rowCount(runs));
  for (const { part, start, end } of runs) {
    writeValues(sink, (parts[part] as NullableColumn<StringColumn>).nulls.values, start, end);
  }
  encodeColumn(
    sink,
    inner,
    parts.map((column) => column.inner),
    runs,
  );
}

function encodeArray(
  sink: ByteSink,
  item: string,
  parts: Parts<ArrayColumn<StringColumn>>,
  runs: readonly Run[],
): void {
  sink.reserve(rowCount(runs) * 8);
  const itemRuns: Run[] = [];
  let items = 0;
  for (const { part, start, end } of runs) {
    const ends = (parts[part] as ArrayColumn<StringColumn>).ends.values;
    const first = start === 0 ? 0 : (ends[start - 1] as number);
    for (let row = start; row < end; row++) sink.writeUInt64(items + (ends[row] as number) - first);
    const last = ends[end - 1] as number;
    items += last - first;
    if (last > first) itemRuns.push({ part, start: first, end: last });
  }
  encodeColumn(
    sink,
    item,
    parts.map((column) => column.items),
    itemRuns,
  );
}
