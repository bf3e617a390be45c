// Spans to the columns of `spans`.

import type { Rows } from "#model/tables.ts";
import {
  doubleOf,
  fillInt64,
  fillJson,
  fillOptionalInt64,
  fillOptionalText,
  fillTail,
  fillText,
  fillWords,
} from "./fill.ts";
import { emptyList, emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordTable } from "./record-table.ts";

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

export function createSpanTable(): RecordTable {
  return new RecordTable(new RecordFields(Object.keys(at)));
}

export function troubleWithSpan(table: RecordTable): RecordTrouble | null {
  return troubleWithId(table, at.id) ?? troubleWithTime(table, at.start_ns) ?? troubleWithTime(table, at.end_ns);
}

export function fillSpans(rows: Rows<"spans">, table: RecordTable): void {
  const start = rows.span_id.length;
  fillText(rows.span_id, table, at.id);
  fillWords(rows.name, table, at.name, "");
  fillOptionalText(rows.parent_id, start, table, at.parent_id);
  fillOptionalInt64(rows.index, start, table, at.index);
  fillInt64(rows.start_ns, table, at.start_ns);
  fillInt64(rows.end_ns, table, at.end_ns);
  fillOptionalInt64(rows.cpu_ns, start, table, at.cpu_ns);
  fillOptionalInt64(rows.gpu_ns, start, table, at.gpu_ns);
  fillOptionalInt64(rows.memory_peak_bytes, start, table, at.memory_peak_bytes);
  fillOptionalInt64(rows.thread_id, start, table, at.thread_id);
  fillOptionalInt64(rows.pid, start, table, at.pid);
  fillRanks(rows, table);
  fillJson(rows.attrs, table, at.attrs, emptyObject);
  fillJson(rows.mark_ids, table, at.mark_ids, emptyList);
  fillTail(rows, start, table);
}

function fillRanks(rows: Rows<"spans">, table: RecordTable): void {
  for (let row = 0, cell = at.rank as number; row < table.count; row++, cell += table.width) {
    const rank = rankOf(table, cell);
    if (rank === null && table.kinds[cell] !== 0) table.keepInExtra(row, at.rank);
    rows.rank.push(rank ?? 0);
  }
}

/** An integer of 32 bits, or null. */
function rankOf(table: RecordTable, cell: number): number | null {
  if (!table.isInteger(cell) || (table.to[cell] as number) - (table.from[cell] as number) > 11) return null;
  const value = doubleOf(table, cell);
  return value === (value | 0) ? value : null;
}
