// Pushing one scanned field onto one column. A value that does not fit the column's type is never lost: the column
// gets its default and the value goes to `extra` as it was sent.

import type { DictColumn, Float64Column, Int64Column, NullableColumn, StringColumn } from "#base/columns.ts";
import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { type Int64Words, parseDouble, parseInt64 } from "#base/json/number.ts";
import { rowFlags } from "#model/tables.ts";
import { escapeText, type RecordScan, textBits } from "./record-scan.ts";

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

export function pushOptionalText(column: NullableColumn<StringColumn>, scan: RecordScan, field: number): void {
  if (scan.isText(field)) {
    column.nulls.push(0);
    pushBytes(column.inner, scan, field);
    return;
  }
  column.nulls.push(1);
  column.inner.pushBytes(noBytes);
  keepUnlessNull(scan, field);
}

function pushBytes(column: StringColumn, scan: RecordScan, field: number): void {
  if (scan.lone) column.pushBytes(escapeText(scan.text(field)));
  else if (((scan.bits[field] as number) & textBits.escaped) !== 0) column.push(scan.text(field));
  else column.pushBytes(scan.cursor.bytes, scan.from[field], scan.to[field]);
}

/** A name or word. Numbers and booleans are shown as their text and kept in `extra`; the default stands for absence. */
export function pushWord(column: DictColumn, scan: RecordScan, field: number, absent: string): void {
  column.push(wordOf(scan, field, absent));
}

export function wordOf(scan: RecordScan, field: number, absent: string): string {
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
  const [from, to] = [scan.from[field] as number, scan.to[field] as number];
  return to - from <= 18 || parseInt64(scan.cursor.bytes, from, to, words);
}

/** The field must be one: see `isInt64`. */
export function pushInt64(column: Int64Column, scan: RecordScan, field: number): void {
  parseInt64(scan.cursor.bytes, scan.from[field] as number, scan.to[field] as number, words);
  column.pushWords(words.low, words.high);
}

export function pushOptionalInt64(column: NullableColumn<Int64Column>, scan: RecordScan, field: number): void {
  if (
    scan.isInteger(field) &&
    parseInt64(scan.cursor.bytes, scan.from[field] as number, scan.to[field] as number, words)
  ) {
    column.nulls.push(0);
    column.inner.pushWords(words.low, words.high);
    return;
  }
  column.nulls.push(1);
  column.inner.pushWords(0, 0);
  keepUnlessNull(scan, field);
}

export function pushOptionalDouble(column: NullableColumn<Float64Column>, value: number | null): void {
  if (value === null) column.pushNull();
  else column.present().push(value);
}

/** The double of a number field. */
export function doubleOf(scan: RecordScan, field: number): number {
  const [from, to] = [scan.from[field] as number, scan.to[field] as number];
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
    if (scan.isStrict(field)) column.pushBytes(scan.cursor.bytes, scan.from[field], scan.to[field]);
    else column.pushBytes(scan.strictBytes(field));
  } else if (kind === 0) column.pushBytes(absent);
  else if (kind === jsonKind.null) column.pushBytes(noBytes);
  else {
    if (kind === jsonKind.number && scan.bits[field] === numberForm.nonFinite) scan.lossy = true;
    column.pushBytes(scan.strictBytes(field));
  }
}

interface TailColumns {
  readonly flags: { push(value: number): void };
  readonly extra: StringColumn;
  readonly raw: StringColumn;
}

/** Ends a row: its flags, and what its columns could not hold. To be called after all other columns. */
export function pushTail(rows: TailColumns, scan: RecordScan, flags: number): void {
  rows.flags.push(scan.lone ? flags | rowFlags.escaped_text : flags);
  if (scan.hasExtra()) rows.extra.push(scan.formatExtra());
  else rows.extra.pushBytes(noBytes);
  if (scan.lossy) rows.raw.pushBytes(scan.cursor.bytes, scan.recordFrom, scan.recordTo);
  else rows.raw.pushBytes(noBytes);
}

function keepUnlessNull(scan: RecordScan, field: number): void {
  const kind = scan.kinds[field];
  if (kind !== 0 && kind !== jsonKind.null) scan.keepInExtra(field);
}
