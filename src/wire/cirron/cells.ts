// Pushing one scanned field onto one column. A value that does not fit the column's type is never lost: the column
// gets its default and the value goes to `extra` as it was sent.
//
// Columns that are empty in most rows (nullable ones, `flags`, `extra`, `raw`) are touched only by rows that have
// something for them: they are padded up to the row then, and by `padRows` at the end of the batch.

import {
  type DictColumn,
  type Float64Column,
  type Int64Column,
  NullableColumn,
  type StringColumn,
  type UInt32Column,
} from "#base/columns.ts";
import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { type Int64Words, parseDouble, parseInt64 } from "#base/json/number.ts";
import { rowFlags } from "#model/tables.ts";
import { escapeText, type RecordScan, textBits } from "./record-scan.ts";
import { IntegerMemo, WordMemo } from "./token-memo.ts";

const words: Int64Words = { low: 0, high: 0 };
const noBytes = new Uint8Array(0);

/** A text that must be there; anything else becomes ''. */
export function pushText(column: StringColumn, scan: RecordScan, field: number): void {
  if (scan.isText(field)) pushBytes(column, scan, field);
  else {
    column.pushBytes(noBytes);
    if (!scan.isAbsent(field)) scan.keepInExtra(field);
  }
}

export function pushOptionalText(
  column: NullableColumn<StringColumn>,
  row: number,
  scan: RecordScan,
  field: number,
): void {
  if (!scan.isText(field)) {
    keepUnlessNull(scan, field);
    return;
  }
  if (column.nulls.length < row) column.padTo(row);
  column.nulls.push(0);
  pushBytes(column.inner, scan, field);
}

function pushBytes(column: StringColumn, scan: RecordScan, field: number): void {
  if (scan.lone) column.pushBytes(escapeText(scan.text(field)));
  else if (((scan.bits[field] as number) & textBits.escaped) !== 0) column.push(scan.text(field));
  else column.pushView(scan.view, scan.from[field] as number, scan.to[field] as number);
}

/**
 * A name or word; returns what was pushed. Numbers and booleans are shown as their text and kept in `extra`;
 * `absent` stands for what is not there.
 */
export function pushWord(column: DictColumn, scan: RecordScan, field: number, absent: string): string {
  if (!scan.isText(field) || scan.bits[field] !== 0 || scan.lone) {
    const word = wordOf(scan, field, absent);
    column.push(word);
    return word;
  }
  const from = scan.from[field] as number;
  const to = scan.to[field] as number;
  scan.words[field] ??= new WordMemo();
  const memo = scan.words[field] as WordMemo;
  let code = memo.find(scan.view, from, to);
  if (code < 0) {
    code = column.intern(scan.text(field));
    memo.keep(scan.view, from, to, code);
  }
  column.pushCode(code);
  return column.keys[code] as string;
}

function wordOf(scan: RecordScan, field: number, absent: string): string {
  const kind = scan.kinds[field] as number;
  if (kind === jsonKind.string) {
    const text = scan.text(field);
    return scan.lone ? JSON.stringify(text).slice(1, -1) : text;
  }
  if (kind === 0) return absent;
  scan.keepInExtra(field);
  return kind === jsonKind.number || kind === jsonKind.true || kind === jsonKind.false ? scan.sent(field) : absent;
}

/** Whether the field is an integer of 64 bits. */
export function isInt64(scan: RecordScan, field: number): boolean {
  if (!scan.isInteger(field)) return false;
  const from = scan.from[field] as number;
  const to = scan.to[field] as number;
  // Nineteen digits below 9·10^18 fit; only what is longer or larger has to be tried.
  if (to - from <= 18 || (to - from === 19 && (scan.cursor.bytes[from] as number) < 0x39)) return true;
  return parseInt64(scan.cursor.bytes, from, to, words);
}

/** The field must be one: see `isInt64`. */
export function pushInt64(column: Int64Column, scan: RecordScan, field: number): void {
  parseInt64(scan.cursor.bytes, scan.from[field] as number, scan.to[field] as number, words);
  column.pushWords(words.low, words.high);
}

export function pushOptionalInt64(
  column: NullableColumn<Int64Column>,
  row: number,
  scan: RecordScan,
  field: number,
): void {
  if (scan.kinds[field] === jsonKind.null) return;
  const from = scan.from[field] as number;
  const to = scan.to[field] as number;
  if (!(scan.isInteger(field) && parseInt64(scan.cursor.bytes, from, to, words))) {
    keepUnlessNull(scan, field);
    return;
  }
  if (column.nulls.length < row) column.padTo(row);
  column.nulls.push(0);
  column.inner.pushWords(words.low, words.high);
}

/** As `pushOptionalInt64`, for what is the same in most rows: threads and processes. */
export function pushRepeatedInt64(
  column: NullableColumn<Int64Column>,
  row: number,
  scan: RecordScan,
  field: number,
): void {
  const from = scan.from[field] as number;
  const to = scan.to[field] as number;
  scan.integers[field] ??= new IntegerMemo();
  const memo = scan.integers[field] as IntegerMemo;
  if (!scan.isInteger(field) || column.nulls.length < row || !memo.isLast(scan.view, from, to)) {
    pushOptionalInt64(column, row, scan, field);
    if (column.nulls.length > row) memo.keep(from, to, words.low, words.high);
    return;
  }
  column.nulls.push(0);
  column.inner.pushWords(memo.low, memo.high);
}

export function pushOptionalDouble(column: NullableColumn<Float64Column>, row: number, value: number | null): void {
  if (value === null) return;
  if (column.nulls.length < row) column.padTo(row);
  column.nulls.push(0);
  column.inner.push(value);
}

/** The double of a number field. */
export function doubleOf(scan: RecordScan, field: number): number {
  const from = scan.from[field] as number;
  const to = scan.to[field] as number;
  return parseDouble(scan.cursor.bytes, from, to, scan.bits[field] as number);
}

/** An integer of 32 bits, or null. */
export function int32Of(scan: RecordScan, field: number): number | null {
  if (!scan.isInteger(field) || (scan.to[field] as number) - (scan.from[field] as number) > 11) return null;
  const value = doubleOf(scan, field);
  return value === (value | 0) && !Object.is(value, -0) ? value : null;
}

/** Strict JSON of any value; '' for null, `absent` when the field is not there. */
export function pushJson(column: StringColumn, scan: RecordScan, field: number, absent: Uint8Array): void {
  const kind = scan.kinds[field] as number;
  if (kind === jsonKind.object || kind === jsonKind.array) {
    if (scan.isStrict(field)) column.pushView(scan.view, scan.from[field] as number, scan.to[field] as number);
    else column.pushBytes(scan.strictBytes(field));
  } else if (kind === 0) column.pushBytes(absent);
  else if (kind === jsonKind.null) column.pushBytes(noBytes);
  else {
    if (kind === jsonKind.number && scan.bits[field] === numberForm.nonFinite) scan.lossy = true;
    column.pushBytes(scan.strictBytes(field));
  }
}

interface TailColumns {
  readonly flags: UInt32Column;
  readonly extra: StringColumn;
  readonly raw: StringColumn;
}

/** Ends a row: its flags, and what its columns could not hold. To be called after all other columns. */
export function pushTail(rows: TailColumns, row: number, scan: RecordScan, flags: number): void {
  if (flags !== 0 || scan.lone) {
    rows.flags.padTo(row, 0);
    rows.flags.push(scan.lone ? flags | rowFlags.escaped_text : flags);
  }
  if (scan.hasExtra()) {
    rows.extra.padTo(row);
    rows.extra.push(scan.formatExtra());
  }
  if (scan.lossy) {
    rows.raw.padTo(row);
    rows.raw.pushBytes(scan.cursor.bytes, scan.recordFrom, scan.recordTo);
  }
}

/** Brings every column that was left behind to the same length. */
export function padRows(rows: TailColumns, count: number): void {
  rows.flags.padTo(count, 0);
  rows.extra.padTo(count);
  rows.raw.padTo(count);
  for (const column of Object.values(rows)) if (column instanceof NullableColumn) column.padTo(count);
}

function keepUnlessNull(scan: RecordScan, field: number): void {
  const kind = scan.kinds[field];
  if (kind !== 0 && kind !== jsonKind.null) scan.keepInExtra(field);
}
