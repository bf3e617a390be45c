// Marks to the columns of `marks`: of the four value columns, only that of `value_type` is filled.

import { jsonKind, numberForm } from "#base/json/cursor.ts";
import { type Int64Words, parseInt64 } from "#base/json/number.ts";
import { nonfiniteWords } from "#model/nonfinite-words.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { Rows } from "#model/tables.ts";
import {
  doubleOf,
  fillInt64,
  fillJson,
  fillTail,
  fillText,
  fillWords,
  flagUnlisted,
  isInt64,
  pushText,
  wordOf,
} from "./fill.ts";
import { emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordTable } from "./record-table.ts";

const at = { id: 0, span_id: 1, name: 2, value_type: 3, value: 4, attrs: 5, ts_ns: 6, kind: 7 } as const;

const kinds: ReadonlySet<string> = new Set(["point", "summary"]);
/** '' stands for a mark without type and value. */
const valueTypes: ReadonlySet<string> = new Set(["float", "int", "string", "bool", ""]);
const words: Int64Words = { low: 0, high: 0 };

export function createMarkTable(): RecordTable {
  return new RecordTable(new RecordFields(Object.keys(at)));
}

export function troubleWithMark(table: RecordTable): RecordTrouble | null {
  return troubleWithId(table, at.id) ?? troubleWithTime(table, at.ts_ns);
}

export function fillMarks(rows: Rows<"marks">, table: RecordTable): void {
  const start = rows.mark_id.length;
  fillText(rows.mark_id, table, at.id);
  fillText(rows.span_id, table, at.span_id);
  fillWords(rows.name, table, at.name, "");
  fillTypes(rows, table);
  flagUnlisted(rows.value_type, start, table, valueTypes);
  for (let row = 0; row < table.count; row++) fillValue(rows, start, table, row);
  fillJson(rows.attrs, table, at.attrs, emptyObject);
  fillInt64(rows.ts_ns, table, at.ts_ns);
  fillWords(rows.kind, table, at.kind, "point");
  flagUnlisted(rows.kind, start, table, kinds);
  fillTail(rows, start, table);
}

/** A mark that does not name its type has the type of its value. */
function fillTypes(rows: Rows<"marks">, table: RecordTable): void {
  let areAllNamed = true;
  for (let row = 0; row < table.count; row++) areAllNamed &&= table.kinds[row * table.width + at.value_type] !== 0;
  if (areAllNamed) {
    fillWords(rows.value_type, table, at.value_type, "");
    return;
  }
  for (let row = 0; row < table.count; row++) {
    const first = row * table.width;
    const inferred = table.kinds[first + at.value_type] === 0 ? inferType(table, first + at.value) : "";
    rows.value_type.push(wordOf(table, row, at.value_type, inferred));
  }
}

function inferType(table: RecordTable, cell: number): string {
  if (table.kinds[cell] === jsonKind.string) return "string";
  if (isBoolean(table, cell)) return "bool";
  if (table.kinds[cell] !== jsonKind.number) return "";
  return table.isInteger(cell) ? "int" : "float";
}

/** `start` is the number of rows before this block. */
function fillValue(rows: Rows<"marks">, start: number, table: RecordTable, row: number): void {
  const cell = row * table.width + at.value;
  switch (rows.value_type.at(start + row)) {
    case "float":
      if (isDouble(table, cell)) {
        const value = doubleOf(table, cell);
        rows.value_float.padTo(start + row);
        rows.value_float.present().push(value);
        if (isOutOfRange(table, cell, value)) table.markLossy(row);
        return;
      }
      fillNonfinite(rows, start, table, row);
      break;
    case "int":
      if (!isInt64(table, cell)) break;
      parseInt64(table.cursor.bytes, table.from[cell] as number, table.to[cell] as number, words);
      rows.value_int.padTo(start + row);
      rows.value_int.present().pushWords(words.low, words.high);
      return;
    case "string":
      if (table.kinds[cell] !== jsonKind.string) break;
      rows.value_string.padTo(start + row);
      pushText(rows.value_string.present(), table, row, cell);
      return;
    case "bool":
      if (!isBoolean(table, cell)) break;
      rows.value_bool.padTo(start + row);
      rows.value_bool.present().push(table.kinds[cell] === jsonKind.true ? 1 : 0);
      return;
    default:
      break;
  }
  if (table.kinds[cell] !== 0) table.keepInExtra(row, at.value);
}

/** Strict JSON has no NaN: SDKs from 0.2.0 on write null and say in a field of its own what the value was. */
function fillNonfinite(rows: Rows<"marks">, start: number, table: RecordTable, row: number): void {
  const kind = table.kinds[row * table.width + at.value];
  if (kind !== 0 && kind !== jsonKind.null) return;
  const value = nonfiniteWords.get(table.unknownText(row, "value_nonfinite"));
  if (value === undefined) return;
  rows.value_float.padTo(start + row);
  rows.value_float.present().push(value);
  table.flags[row] = (table.flags[row] as number) | rowFlags.nonfinite_word;
}

/** A float that was written as an integer may have more digits than a double holds. */
function isDouble(table: RecordTable, cell: number): boolean {
  if (table.kinds[cell] !== jsonKind.number) return false;
  return table.bits[cell] !== numberForm.integer || Number.isSafeInteger(doubleOf(table, cell));
}

/** A literal like 1e400 or 1e-400, of which a double keeps nothing: the record's text is kept too. */
function isOutOfRange(table: RecordTable, cell: number, value: number): boolean {
  if (value !== 0 && Number.isFinite(value)) return false;
  return table.bits[cell] !== numberForm.nonFinite && (value !== 0 || /^-?[0.]*[1-9]/.test(table.sent(cell)));
}

function isBoolean(table: RecordTable, cell: number): boolean {
  return table.kinds[cell] === jsonKind.true || table.kinds[cell] === jsonKind.false;
}
