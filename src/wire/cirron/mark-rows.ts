// A mark's fields to the columns of `marks`: of the four value columns exactly that of `value_type` is filled.

import { type JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { type Rows, rowFlags } from "#model/tables.ts";
import {
  doubleOf,
  isInt64,
  pushInt64,
  pushJson,
  pushOptionalDouble,
  pushOptionalInt64,
  pushOptionalText,
  pushTail,
  pushText,
  pushWord,
} from "./cells.ts";
import { emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordScan } from "./record-scan.ts";

const at = { id: 0, span_id: 1, name: 2, value_type: 3, value: 4, attrs: 5, ts_ns: 6, kind: 7 } as const;

const fields = new RecordFields(Object.keys(at));

export function createMarkScan(cursor: JsonCursor): RecordScan {
  return new RecordScan(cursor, fields);
}

/** Makes room for marks that are like the one just scanned. */
export function reserveMarks(rows: Rows<"marks">, count: number): void {
  rows.mark_id.reserve(count, count * 32);
  rows.span_id.reserve(count, count * 32);
  for (const column of [rows.name, rows.value_type, rows.kind]) column.reserve(count);
  rows.attrs.reserve(count, count * 16);
  rows.ts_ns.reserve(count);
}

/** Pushes the scanned mark, or says why it cannot be a row and pushes nothing. */
export function pushMark(rows: Rows<"marks">, scan: RecordScan): RecordTrouble | null {
  const trouble = troubleWithId(scan, at.id) ?? troubleWithTime(scan, at.ts_ns);
  if (trouble !== null) return trouble;
  const row = rows.mark_id.length;
  pushText(rows.mark_id, scan, at.id);
  pushText(rows.span_id, scan, at.span_id);
  pushWord(rows.name, scan, at.name, "");
  const valueType = pushWord(rows.value_type, scan, at.value_type, scan.isAbsent(at.value_type) ? inferType(scan) : "");
  const isListed = pushValue(rows, row, scan, valueType) || scan.isAbsent(at.value_type);
  pushJson(rows.attrs, scan, at.attrs, emptyObject);
  pushInt64(rows.ts_ns, scan, at.ts_ns);
  const kind = pushWord(rows.kind, scan, at.kind, "point");
  pushTail(rows, row, scan, isListed && (kind === "point" || kind === "summary") ? 0 : rowFlags.unlisted_word);
  return null;
}

/** Returns whether the type is one of the document's four. */
function pushValue(rows: Rows<"marks">, row: number, scan: RecordScan, valueType: string): boolean {
  const isFloat = valueType === "float" && scan.kinds[at.value] === jsonKind.number && isExactDouble(scan);
  const isInt = valueType === "int" && isInt64(scan, at.value);
  const isString = valueType === "string" && scan.isText(at.value);
  const isBool = valueType === "bool" && isBoolean(scan);
  if (isFloat) pushOptionalDouble(rows.value_float, row, doubleOf(scan, at.value));
  else if (isInt) pushOptionalInt64(rows.value_int, row, scan, at.value);
  else if (isString) pushOptionalText(rows.value_string, row, scan, at.value);
  else if (isBool) {
    rows.value_bool.padTo(row);
    rows.value_bool.present().push(scan.kinds[at.value] === jsonKind.true ? 1 : 0);
  } else if (!scan.isAbsent(at.value)) scan.keepInExtra(at.value);
  return valueType === "float" || valueType === "int" || valueType === "string" || valueType === "bool";
}

/** A float that was written as an integer may have more digits than a double holds. */
function isExactDouble(scan: RecordScan): boolean {
  if (scan.bits[at.value] !== numberForm.integer) return true;
  return Number.isSafeInteger(doubleOf(scan, at.value));
}

function isBoolean(scan: RecordScan): boolean {
  return scan.kinds[at.value] === jsonKind.true || scan.kinds[at.value] === jsonKind.false;
}

function inferType(scan: RecordScan): string {
  if (scan.isText(at.value)) return "string";
  if (isBoolean(scan)) return "bool";
  if (scan.kinds[at.value] !== jsonKind.number) return "";
  return scan.isInteger(at.value) ? "int" : "float";
}
