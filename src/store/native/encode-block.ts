// Turns columns into one ClickHouse Native block: `varint columns, varint rows`, then for each column its
// name, its type and its data (see encode-column.ts). Many small `Rows` from different messages become one
// block, because an INSERT costs as much for a row as for thousands.

import assert from "node:assert/strict";
import { ArrayColumn, NullableColumn, StringColumn } from "#base/columns.ts";
import type { DictColumn } from "#base/dict-column.ts";
import { atOnce } from "#base/turns.ts";
import { type AnyColumn, type ColumnType, type FactTable, factTables, type Rows } from "#model/tables.ts";
import { ByteSink, releaseWritten } from "./byte-sink.ts";
import { encodeColumn, type Run, rowCount } from "./encode-column.ts";
import { encodeConstant, encodeDict } from "./encode-dict.ts";

export interface NativeBlock {
  readonly rows: number;
  readonly columns: readonly string[];
  readonly bytes: Uint8Array;
}

/** Returns the memory of a block that was encoded here, once nobody reads it any more. */
export function releaseBlock(block: Pick<NativeBlock, "bytes">): void {
  releaseWritten(block.bytes);
}

/** For each row of a `Rows` one byte, 1 = leave the row out; null keeps them all. */
export type Dropped = Uint8Array | null;

/** `dropped[i]` belongs to `rows[i]`. The block owns its bytes; the columns are only read. */
export function encodeBlock<T extends FactTable>(
  table: T,
  rows: readonly Rows<T>[],
  dropped: readonly Dropped[] = [],
): NativeBlock {
  const [block] = atOnce(encodeSteps(table, rows, dropped));
  return block as NativeBlock;
}

/** Words that all rows of a block have in common, by column. */
export type Constants = Readonly<Record<string, string>>;

/** Like `encodeBlock`, in steps of one column: encoding a large block in one go would keep others waiting too long. */
export function* encodeSteps<T extends FactTable>(
  table: T,
  rows: readonly Rows<T>[],
  dropped: readonly Dropped[],
  constants: Constants = {},
  rowsMax: number = Number.POSITIVE_INFINITY,
  bytesMax: number = Number.POSITIVE_INFINITY,
): Generator<void, NativeBlock[]> {
  const types = factTables[table] as unknown as Record<string, ColumnType>;
  const first = Object.keys(types)[0] as string;
  const columns = new Map<string, AnyColumn[]>();
  for (const name of Object.keys(types))
    columns.set(
      name,
      rows.map((part) => (part as unknown as Record<string, AnyColumn>)[name] as AnyColumn),
    );
  const columnsOf = (name: string): AnyColumn[] => columns.get(name) as AnyColumn[];
  const lengths = columnsOf(first).map(({ length }) => length);
  for (const name of Object.keys(types)) {
    const isFilled = columnsOf(name).every(({ length }, part) => length === lengths[part]);
    assert(isFilled, `${table}.${name} is not filled in every row`);
  }
  const runs = lengths.flatMap((length, part) => keptRuns(part, length, dropped[part] ?? null));
  const bytes = Object.keys(types).reduce((sum, name) => sum + sizeOf(columnsOf(name)), 0);
  const rowsInAll = rowCount(runs);
  const inRoom = Math.max(1, Math.floor(bytesMax / (bytes / Math.max(1, rowsInAll))));
  // The blocks have similar sizes, as they may be stored side by side.
  const count = Math.max(1, Math.ceil(rowsInAll / Math.min(rowsMax, inRoom)));
  const blocks: NativeBlock[] = [];
  for (const some of cutRuns(runs, Math.ceil(rowsInAll / count)))
    blocks.push(yield* columnSteps(types, columnsOf, some, constants));
  return blocks;
}

export function encodeColumns(
  types: Readonly<Record<string, ColumnType>>,
  columnsOf: (name: string) => AnyColumn[],
  runs: readonly Run[],
): NativeBlock {
  return atOnce(columnSteps(types, columnsOf, runs, {}));
}

function* columnSteps(
  types: Readonly<Record<string, ColumnType>>,
  columnsOf: (name: string) => AnyColumn[],
  runs: readonly Run[],
  constants: Constants,
): Generator<void, NativeBlock> {
  const columns = Object.keys(types);
  const common = Object.entries(constants);
  const rows = rowCount(runs);
  const whole = columns.reduce((sum, name) => sum + sizeOf(columnsOf(name)), 0);
  const sink = new ByteSink(
    4096 + rows * common.length + Math.ceil(whole * shareOf(rows, columnsOf(columns[0] as string))),
  );
  sink.writeVarint(columns.length + common.length);
  sink.writeVarint(rows);
  for (const name of columns) {
    const type = types[name] as ColumnType;
    sink.writeText(name);
    sink.writeText(type);
    // An empty block ends each column after its type: not even a LowCardinality version is written.
    if (runs.length > 0 && type === "LowCardinality(String)")
      yield* encodeDict(sink, columnsOf(name) as DictColumn[], runs);
    else if (runs.length > 0) encodeColumn(sink, type, columnsOf(name), runs);
    yield;
  }
  for (const [name, text] of common) {
    sink.writeText(name);
    sink.writeText("LowCardinality(String)");
    encodeConstant(sink, text, rows);
  }
  return { rows, columns: [...columns, ...Object.keys(constants)], bytes: sink.finish() };
}

/** Roughly how many bytes a column becomes; growing the sink would copy everything written before. */
function sizeOf(parts: readonly AnyColumn[]): number {
  let size = 64;
  for (const part of parts) {
    const inner = part instanceof NullableColumn ? part.inner : part;
    const items = part instanceof ArrayColumn ? part.items.length : 0;
    size += inner instanceof StringColumn ? part.length * 3 + inner.byteLength : (part.length + items) * 9;
  }
  return size;
}

/** The share that these rows are of the columns. */
function shareOf(rows: number, parts: readonly AnyColumn[]): number {
  return (
    rows /
    Math.max(
      1,
      parts.reduce((sum, { length }) => sum + length, 0),
    )
  );
}

/** In groups of at most this many rows; one empty group if there are none. */
function cutRuns(runs: readonly Run[], rowsMax: number): Run[][] {
  const groups: Run[][] = [[]];
  let room = rowsMax;
  for (const { part, start, end } of runs)
    for (let at = start; at < end; ) {
      if (room === 0) {
        groups.push([]);
        room = rowsMax;
      }
      const until = Math.min(end, at + room);
      (groups.at(-1) as Run[]).push({ part, start: at, end: until });
      room -= until - at;
      at = until;
    }
  return groups;
}

/** The stretches of rows that stay, so that fixed-width columns are copied stretch by stretch. */
function keptRuns(part: number, length: number, dropped: Dropped): Run[] {
  if (length === 0) return [];
  if (dropped === null) return [{ part, start: 0, end: length }];
  const runs: Run[] = [];
  let start = -1;
  for (let row = 0; row < length; row++) {
    const out = dropped[row] === 1;
    if (out && start >= 0) runs.push({ part, start, end: row });
    if (out) start = -1;
    else if (start < 0) start = row;
  }
  if (start >= 0) runs.push({ part, start, end: length });
  return runs;
}
