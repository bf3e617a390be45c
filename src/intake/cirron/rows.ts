// The columns of one decoded Cirron batch, as the decoder leaves them: everything the client sent.
// Intake adds what only it knows: group_key, content_hash, received_ns, jpos and jrow.

import type { ServerNs } from "#base/clock.ts";
import { nullableFloat64, type StringColumn } from "#base/columns.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { AnyColumn, Rows } from "#model/tables.ts";

export interface CirronRows {
  readonly spans: Rows<"spans">;
  readonly marks: Rows<"marks">;
  readonly snapshots: Rows<"snapshots">;
}

/** The rows' own ids. */
export function idsOf(rows: CirronRows, table: keyof CirronRows): StringColumn {
  if (table === "spans") return rows.spans.span_id;
  return table === "marks" ? rows.marks.mark_id : rows.snapshots.snapshot_id;
}

/** The columns that make the content of a row. `blob_uri` is not one: the same snapshot has a file:// URI in the
 * spool and the server's in the posted batch. These lists never change: see `hashRows`. */
const contentOf = {
  spans: [
    "parent_id",
    "name",
    "index",
    "start_ns",
    "end_ns",
    "cpu_ns",
    "gpu_ns",
    "memory_peak_bytes",
    "thread_id",
    "pid",
    "rank",
    "attrs",
    "mark_ids",
    "extra",
  ],
  marks: [
    "span_id",
    "name",
    "value_type",
    "value_float",
    "value_int",
    "value_string",
    "value_bool",
    "attrs",
    "ts_ns",
    "kind",
    "extra",
  ],
  snapshots: ["span_id", "tensor_name", "shape", "dtype", "mode", "stats", "ts_ns", "attrs", "extra"],
} as const;

export function contentColumns(rows: CirronRows, table: keyof CirronRows): AnyColumn[] {
  const columns = rows[table] as unknown as Record<string, AnyColumn>;
  return contentOf[table].map((name) =>
    name === "value_float" ? sentFloats(rows.marks) : (columns[name] as AnyColumn),
  );
}

/**
 * The floats as they were sent: a mark whose value is a word has no number here, and its word counts as part of `extra`. This
 * keeps the identity of rows that were stored before the word was understood.
 */
function sentFloats({ flags, value_float: read }: CirronRows["marks"]): AnyColumn {
  const count = read.length;
  const isWord = (row: number) => (flags.at(row) & rowFlags.nonfinite_word) !== 0;
  let row = 0;
  while (row < count && !isWord(row)) row++;
  if (row === count) return read;
  const sent = nullableFloat64();
  for (row = 0; row < count; row++) {
    if (read.isNull(row) || isWord(row)) sent.pushNull();
    else sent.present().push(read.inner.at(row));
  }
  return sent;
}

/** Fills the columns that are the same for all rows of a batch or count them, one per step. */
export function* stampRows(
  rows: CirronRows,
  stamp: { groupKey: string; receivedNs: ServerNs; position: number },
): Generator<void, void> {
  let jrow = 0;
  rows.spans.origin.padTo(rows.spans.span_id.length, "");
  for (const table of [rows.spans, rows.marks, rows.snapshots]) {
    const count = table.span_id.length;
    if (count === 0) continue;
    table.group_key.padTo(count, stamp.groupKey);
    yield;
    table.jpos.padTo(count, BigInt(stamp.position));
    yield;
    table.received_ns.padTo(count, stamp.receivedNs);
    yield;
    table.jrow.reserve(count);
    while (table.jrow.length < count) table.jrow.push(jrow++);
    yield;
  }
}
