// Snapshots to the columns of `snapshots`. Their statistics are stored twice: as they were sent, and as the numbers
// that charts read.

import type { ArrayColumn, Float64Column, NullableColumn } from "#base/columns.ts";
import type { Rows } from "#model/tables.ts";
import { fillInt64, fillJson, fillOptionalText, fillTail, fillText, fillWords, flagUnlisted } from "./fill.ts";
import { emptyList, emptyObject, type RecordTrouble, troubleWithId, troubleWithTime } from "./record.ts";
import { RecordFields, RecordTable } from "./record-table.ts";
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

const modes: ReadonlySet<string> = new Set(["stats", "sampled", "full"]);
const noBytes = new Uint8Array(0);

export function createSnapshotTable(stats: StatsReader): RecordTable {
  return new RecordTable(new RecordFields(Object.keys(at)), at.stats, stats);
}

export function troubleWithSnapshot(table: RecordTable): RecordTrouble | null {
  return troubleWithId(table, at.id) ?? troubleWithTime(table, at.ts_ns);
}

/** Reads the numbers of the long snapshot that was just read, with pauses, for `pushStats`. */
export function readLongStats(table: RecordTable, stats: StatsReader): Generator<void, void> {
  return stats.readInSteps(table, table.count * table.width + at.stats);
}

/**
 * Pushes the numbers of the snapshot that was just read and will be kept, while the reader still has them. `row` is its
 * number among all rows of the batch.
 */
export function pushStats(rows: Rows<"snapshots">, row: number, table: RecordTable, stats: StatsReader): void {
  stats.read(table, table.count * table.width + at.stats);
  pushNumber(rows.mean, row, stats.mean);
  pushNumber(rows.std, row, stats.std);
  pushNumber(rows.min, row, stats.min);
  pushNumber(rows.max, row, stats.max);
  pushNumber(rows.norm, row, stats.norm);
  pushList(rows.bins, stats.bins);
  pushList(rows.counts, stats.counts);
}

export function fillSnapshots(rows: Rows<"snapshots">, table: RecordTable): void {
  const start = rows.snapshot_id.length;
  fillText(rows.snapshot_id, table, at.id);
  fillText(rows.span_id, table, at.span_id);
  fillWords(rows.tensor_name, table, at.tensor_name, "");
  fillJson(rows.shape, table, at.shape, emptyList);
  fillWords(rows.dtype, table, at.dtype, "");
  fillWords(rows.mode, table, at.mode, "stats");
  flagUnlisted(rows.mode, start, table, modes);
  fillJson(rows.stats, table, at.stats, noBytes);
  fillOptionalText(rows.blob_uri, start, table, at.blob_uri);
  fillInt64(rows.ts_ns, table, at.ts_ns);
  fillJson(rows.attrs, table, at.attrs, emptyObject);
  fillTail(rows, start, table);
}

function pushNumber(column: NullableColumn<Float64Column>, row: number, value: number | null): void {
  if (value === null) return;
  column.padTo(row);
  column.present().push(value);
}

function pushList(column: ArrayColumn<Float64Column>, list: DoubleList): void {
  column.items.append(list, 0, list.length);
  column.finishRow();
}
