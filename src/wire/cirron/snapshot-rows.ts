// A snapshot's fields to the columns of `snapshots`. Its statistics are stored twice: as they were sent, and as the
// numbers that charts read.

import type { ArrayColumn, Float64Column } from "#base/columns.ts";
import type { JsonCursor } from "#base/json/cursor.ts";
import { type Rows, rowFlags } from "#model/tables.ts";
import { pushInt64, pushJson, pushOptionalDouble, pushOptionalText, pushTail, pushText, pushWord } from "./cells.ts";
import { emptyList, emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordScan } from "./record-scan.ts";
import type { DoubleList, StatsReader } from "./stats.ts";

const at = {
  id: 0,
  span_id: 1,
  tensor_name: 2,
  shape: 3,
  dtype: 4,
  mode: 5,
  stats: 6,
  blob_uri: 7,
  ts_ns: 8,
  attrs: 9,
} as const;

const noBytes = new Uint8Array(0);

const fields = new RecordFields(Object.keys(at));

export function createSnapshotScan(cursor: JsonCursor, stats: StatsReader): RecordScan {
  return new RecordScan(cursor, fields, at.stats, stats);
}

/** Makes room for snapshots that are like the one just scanned. */
export function reserveSnapshots(rows: Rows<"snapshots">, count: number): void {
  rows.snapshot_id.reserve(count, count * 32);
  rows.span_id.reserve(count, count * 32);
  rows.stats.reserve(count, count * 640);
  rows.bins.items.reserve(count * 17);
  rows.counts.items.reserve(count * 16);
}

/** Pushes the scanned snapshot, or says why it cannot be a row and pushes nothing. */
export function pushSnapshot(rows: Rows<"snapshots">, scan: RecordScan, stats: StatsReader): RecordTrouble | null {
  const trouble = troubleWithId(scan, at.id) ?? troubleWithTime(scan, at.ts_ns);
  if (trouble !== null) return trouble;
  const row = rows.snapshot_id.length;
  pushText(rows.snapshot_id, scan, at.id);
  pushText(rows.span_id, scan, at.span_id);
  pushWord(rows.tensor_name, scan, at.tensor_name, "");
  pushJson(rows.shape, scan, at.shape, emptyList);
  pushWord(rows.dtype, scan, at.dtype, "");
  const mode = pushWord(rows.mode, scan, at.mode, "stats");
  pushJson(rows.stats, scan, at.stats, noBytes);
  pushStats(rows, row, scan, stats);
  pushOptionalText(rows.blob_uri, row, scan, at.blob_uri);
  pushInt64(rows.ts_ns, scan, at.ts_ns);
  pushJson(rows.attrs, scan, at.attrs, emptyObject);
  pushTail(rows, row, scan, mode === "stats" || mode === "sampled" || mode === "full" ? 0 : rowFlags.unlisted_word);
  return null;
}

function pushStats(rows: Rows<"snapshots">, row: number, scan: RecordScan, stats: StatsReader): void {
  stats.read(scan, at.stats);
  pushOptionalDouble(rows.mean, row, stats.mean);
  pushOptionalDouble(rows.std, row, stats.std);
  pushOptionalDouble(rows.min, row, stats.min);
  pushOptionalDouble(rows.max, row, stats.max);
  pushOptionalDouble(rows.norm, row, stats.norm);
  pushList(rows.bins, stats.bins);
  pushList(rows.counts, stats.counts);
}

function pushList(column: ArrayColumn<Float64Column>, list: DoubleList): void {
  const { items } = column;
  for (let i = 0; i < list.length; i++) items.push(list.values[i] as number);
  column.finishRow();
}
