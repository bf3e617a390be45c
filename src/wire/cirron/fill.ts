// From a block of scanned records to columns, one field at a time for all records. A value that does not fit its column is
// never lost: the column gets its default, and the value goes to `extra` as it was sent.
//
// Columns that are empty in most rows (nullable ones, `flags`, `extra`, `raw`) are touched only by rows that have
// something for them. They are padded up to the row then, and by `padRows` at the end of the batch.

import type { DictColumn, Int64Column, NullableColumn, StringColumn, UInt32Column } from "#base/columns.ts";
import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { type Int64Words, parseDouble, parseInt64 } from "#base/json/number.ts";
import { rowFlags } from "#model/row-flags.ts";
import { factTables } from "#model/tables.ts";
import { type RecordTable, rowBits, strictBit, textBits } from "./record-table.ts";
import { WordMemo } from "./token-memo.ts";

const words: Int64Words = { low: 0, high: 0 };
const noBytes = new Uint8Array(0);
/** For the column that is being filled. */
const wordMemo = new WordMemo();

/** A text that should be there; anything else becomes ''. */
export function fillText(column: StringColumn, table: RecordTable, field: number): void {
  const { count, width, kinds } = table;
  if (areAllPlain(table, field)) {
    column.pushViews(table.view, table.from, table.to, field, width, count);
    return;
  }
  for (let row = 0; row < count; row++) {
    const cell = row * width + field;
    if (kinds[cell] === jsonKind.string) pushText(column, table, row, cell);
    else {
      column.pushBytes(noBytes);
      if (kinds[cell] !== 0) table.keepInExtra(row, field);
    }
  }
}

/** `start` is the number of rows before this block. */
export function fillOptionalText(
  column: NullableColumn<StringColumn>,
  start: number,
  table: RecordTable,
  field: number,
): void {
  const { count, width, kinds } = table;
  if (areAllPlain(table, field)) {
    column.padTo(start);
    column.nulls.padTo(start + count, 0);
    column.inner.pushViews(table.view, table.from, table.to, field, width, count);
    return;
  }
  for (let row = 0; row < count; row++) {
    const cell = row * width + field;
    if (kinds[cell] === jsonKind.string) {
      column.padTo(start + row);
      column.nulls.push(0);
      pushText(column.inner, table, row, cell);
    } else keepUnlessNull(table, row, field);
  }
}

/** Whether the field of every row is text that can be copied as it stands. */
function areAllPlain(table: RecordTable, field: number): boolean {
  const { count, width, kinds, bits } = table;
  for (let row = 0, cell = field; row < count; row++, cell += width) {
    if (kinds[cell] !== jsonKind.string || ((bits[cell] as number) & textBits.escaped) !== 0) return false;
    if (((table.rowBits[row] as number) & rowBits.lone) !== 0) return false;
  }
  return true;
}

export function pushText(column: StringColumn, table: RecordTable, row: number, cell: number): void {
  if (((table.rowBits[row] as number) & rowBits.lone) !== 0) column.push(escapeText(table.text(cell)));
  else if (((table.bits[cell] as number) & textBits.escaped) !== 0) column.push(table.text(cell));
  else column.pushView(table.view, table.from[cell] as number, table.to[cell] as number);
}

/** The JSON-escaped form of a text, without quotes: what columns hold when the row has half a surrogate pair. */
function escapeText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Names or words. Numbers and booleans become their text and are kept in `extra`; anything else becomes `absent`. */
export function fillWords(column: DictColumn, table: RecordTable, field: number, absent: string): void {
  const { count, width, kinds, bits, from, to, view } = table;
  const memo = wordMemo;
  memo.clear();
  column.reserve(column.length + count);
  for (let row = 0, cell = field; row < count; row++, cell += width) {
    if (kinds[cell] !== jsonKind.string || bits[cell] !== 0 || table.rowBits[row] !== 0) {
      column.push(wordOf(table, row, field, absent));
      continue;
    }
    const start = from[cell] as number;
    const stop = to[cell] as number;
    let code = memo.find(view, start, stop);
    if (code < 0) {
      code = column.intern(table.text(cell));
      memo.keep(view, start, stop, code);
    }
    column.pushCode(code);
  }
}

export function wordOf(table: RecordTable, row: number, field: number, absent: string): string {
  const cell = row * table.width + field;
  const kind = table.kinds[cell];
  if (kind === jsonKind.string) {
    const text = table.text(cell);
    return ((table.rowBits[row] as number) & rowBits.lone) !== 0 ? escapeText(text) : text;
  }
  if (kind === 0) return absent;
  table.keepInExtra(row, field);
  return kind === jsonKind.number || kind === jsonKind.true || kind === jsonKind.false ? table.sent(cell) : absent;
}

/** Sets a flag on rows of the block whose word is none of these. */
export function flagUnlisted(column: DictColumn, start: number, table: RecordTable, listed: ReadonlySet<string>): void {
  const isListed = column.keys.map((key) => listed.has(key));
  if (!isListed.includes(false)) return;
  for (let row = 0; row < table.count; row++) {
    if (isListed[column.codes[start + row] as number] === true) continue;
    table.flags[row] = (table.flags[row] as number) | rowFlags.unlisted_word;
  }
}

/** 64-bit integers, which `isInt64` has checked. */
export function fillInt64(column: Int64Column, table: RecordTable, field: number): void {
  const { count, width, from, to } = table;
  const { bytes } = table.cursor;
  column.reserve(column.length + count);
  for (let row = 0, cell = field; row < count; row++, cell += width) {
    parseInt64(bytes, from[cell] as number, to[cell] as number, words);
    column.pushWords(words.low, words.high);
  }
}

export function isInt64(table: RecordTable, cell: number): boolean {
  if (!table.isInteger(cell)) return false;
  const from = table.from[cell] as number;
  const to = table.to[cell] as number;
  // Nineteen digits below 9·10^18 fit; only what is longer or larger has to be tried.
  if (to - from <= 18 || (to - from === 19 && (table.cursor.bytes[from] as number) < 0x39)) return true;
  return parseInt64(table.cursor.bytes, from, to, words);
}

/** `start` is the number of rows before this block. */
export function fillOptionalInt64(
  column: NullableColumn<Int64Column>,
  start: number,
  table: RecordTable,
  field: number,
): void {
  const { count, width, kinds, from, to } = table;
  const { bytes } = table.cursor;
  for (let row = 0, cell = field; row < count; row++, cell += width) {
    if (kinds[cell] === jsonKind.null) continue;
    const first = from[cell] as number;
    const last = to[cell] as number;
    if (table.isInteger(cell) && parseInt64(bytes, first, last, words)) {
      if (column.nulls.length < start + row) column.padTo(start + row);
      column.nulls.push(0);
      column.inner.pushWords(words.low, words.high);
    } else keepUnlessNull(table, row, field);
  }
}

/** Strict JSON of any value; '' for null, `absent` when the field is not there. */
export function fillJson(column: StringColumn, table: RecordTable, field: number, absent: Uint8Array): void {
  const { count, width, kinds, bits } = table;
  let isPlain = true;
  for (let row = 0, cell = field; row < count && isPlain; row++, cell += width) {
    const kind = kinds[cell];
    isPlain = (kind === jsonKind.object || kind === jsonKind.array) && bits[cell] === strictBit;
  }
  if (isPlain) {
    column.pushViews(table.view, table.from, table.to, field, width, count);
    return;
  }
  for (let row = 0, cell = field; row < count; row++, cell += width) {
    const kind = kinds[cell];
    if (kind === 0) column.pushBytes(absent);
    else if (kind === jsonKind.null) column.pushBytes(noBytes);
    else {
      if (kind === jsonKind.number && bits[cell] === numberForm.nonFinite) table.markLossy(row);
      column.pushBytes(table.strictBytes(cell));
    }
  }
}

export function doubleOf(table: RecordTable, cell: number): number {
  const { from, to, bits } = table;
  return parseDouble(table.cursor.bytes, from[cell] as number, to[cell] as number, bits[cell] as number);
}

interface TailColumns {
  readonly flags: UInt32Column;
  readonly extra: StringColumn;
  readonly raw: StringColumn;
}

/** Ends the rows of a block: their flags, and what their columns could not hold. After all other columns. */
export function fillTail(rows: TailColumns, start: number, table: RecordTable): void {
  for (let row = 0; row < table.count; row++) {
    const bits = table.rowBits[row] as number;
    const flags = (table.flags[row] as number) | ((bits & rowBits.lone) === 0 ? 0 : rowFlags.escaped_text);
    if (flags !== 0) {
      rows.flags.padTo(start + row, 0);
      rows.flags.push(flags);
    }
    if (table.hasExtra(row)) {
      rows.extra.padTo(start + row);
      rows.extra.pushBytes(table.formatExtra(row));
    }
    if ((bits & rowBits.lossy) !== 0) {
      rows.raw.padTo(start + row);
      rows.raw.pushBytes(table.cursor.bytes, table.recordFrom[row], table.recordTo[row]);
    }
  }
}

type Table = "spans" | "marks" | "snapshots";

function namesOfNullable(table: Table): string[] {
  return Object.entries(factTables[table]).flatMap(([name, type]) => (type.startsWith("Nullable(") ? [name] : []));
}

/** The nullable columns of each table. Looking for them in every batch would cost more than padding them. */
const nullable = {
  spans: namesOfNullable("spans"),
  marks: namesOfNullable("marks"),
  snapshots: namesOfNullable("snapshots"),
};

/** Brings every column that was left behind to the same length. */
export function padRows(table: Table, rows: TailColumns, count: number): void {
  if (count === 0) return;
  rows.flags.padTo(count, 0);
  rows.extra.padTo(count);
  rows.raw.padTo(count);
  const columns = rows as unknown as Readonly<Record<string, { padTo(length: number): void }>>;
  for (const name of nullable[table]) columns[name]?.padTo(count);
}

function keepUnlessNull(table: RecordTable, row: number, field: number): void {
  const kind = table.kinds[row * table.width + field];
  if (kind !== 0 && kind !== jsonKind.null) table.keepInExtra(row, field);
}
