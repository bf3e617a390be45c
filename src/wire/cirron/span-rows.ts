// A span's fields to the columns of `spans`.

import type { JsonCursor } from "#base/json/cursor.ts";
import type { Rows } from "#model/tables.ts";
import {
  int32Of,
  pushInt64,
  pushJson,
  pushOptionalInt64,
  pushOptionalText,
  pushRepeatedInt64,
  pushTail,
  pushText,
  pushWord,
} from "./cells.ts";
import { emptyList, emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordScan } from "./record-scan.ts";

const at = {
  id: 0,
  name: 1,
  parent_id: 2,
  index: 3,
  start_ns: 4,
  end_ns: 5,
  cpu_ns: 6,
  gpu_ns: 7,
  memory_peak_bytes: 8,
  thread_id: 9,
  pid: 10,
  rank: 11,
  attrs: 12,
  mark_ids: 13,
} as const;

const fields = new RecordFields(Object.keys(at));

export function createSpanScan(cursor: JsonCursor): RecordScan {
  return new RecordScan(cursor, fields);
}

/** Makes room for spans that are like the one just scanned. */
export function reserveSpans(rows: Rows<"spans">, count: number): void {
  rows.span_id.reserve(count, count * 32);
  rows.parent_id.nulls.reserve(count);
  rows.parent_id.inner.reserve(count, count * 32);
  rows.name.reserve(count);
  for (const column of [rows.start_ns, rows.end_ns]) column.reserve(count);
  for (const column of [rows.thread_id, rows.pid]) {
    column.nulls.reserve(count);
    column.inner.reserve(count);
  }
  rows.rank.reserve(count);
  rows.attrs.reserve(count, count * 16);
  rows.mark_ids.reserve(count, count * 8);
}

/** Pushes the scanned span, or says why it cannot be a row and pushes nothing. */
export function pushSpan(rows: Rows<"spans">, scan: RecordScan): RecordTrouble | null {
  const trouble = troubleWithId(scan, at.id) ?? troubleWithTime(scan, at.start_ns) ?? troubleWithTime(scan, at.end_ns);
  if (trouble !== null) return trouble;
  const row = rows.span_id.length;
  pushText(rows.span_id, scan, at.id);
  pushWord(rows.name, scan, at.name, "");
  pushOptionalText(rows.parent_id, row, scan, at.parent_id);
  pushOptionalInt64(rows.index, row, scan, at.index);
  pushInt64(rows.start_ns, scan, at.start_ns);
  pushInt64(rows.end_ns, scan, at.end_ns);
  pushOptionalInt64(rows.cpu_ns, row, scan, at.cpu_ns);
  pushOptionalInt64(rows.gpu_ns, row, scan, at.gpu_ns);
  pushOptionalInt64(rows.memory_peak_bytes, row, scan, at.memory_peak_bytes);
  pushRepeatedInt64(rows.thread_id, row, scan, at.thread_id);
  pushRepeatedInt64(rows.pid, row, scan, at.pid);
  pushRank(rows, scan);
  pushJson(rows.attrs, scan, at.attrs, emptyObject);
  pushJson(rows.mark_ids, scan, at.mark_ids, emptyList);
  pushTail(rows, row, scan, 0);
  return null;
}

function pushRank(rows: Rows<"spans">, scan: RecordScan): void {
  const rank = int32Of(scan, at.rank);
  if (rank === null && !scan.isAbsent(at.rank)) scan.keepInExtra(at.rank);
  rows.rank.push(rank ?? 0);
}
