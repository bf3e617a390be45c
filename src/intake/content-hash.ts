// 32 bits of a row's content. Two records with one identity are the same record when these agree; the
// columns are hashed rather than the text, so that blanks and the order of keys do not matter.
// Hashes are stored, and a record that is sent again after an upgrade must hash as it did before. So the hash never changes:
// which columns count as content is fixed for each table and checked by tests. A column that is added later does not count;
// what it is read from still counts as it was sent, for example in `extra`.
//
// A whole batch is hashed column by column, so that each loop sees one kind of column and runs fast.

import { ArrayColumn, DictColumn, Float64Column, Int64Column, NullableColumn, StringColumn } from "#base/columns.ts";
import type { AnyColumn } from "#model/tables.ts";

const prime = 0x01000193;
const offset = 0x811c9dc5;

/**
 * One hash per row, never 0: where hashes are stored, 0 stands for "not known". One step per column, and more for a column
 * with much text.
 */
export function* hashRows(columns: readonly AnyColumn[], count: number): Generator<void, Uint32Array> {
  const cells = new Int32Array(count);
  const mixed = new Int32Array(count).fill(offset);
  for (const column of columns) {
    if (column instanceof StringColumn && column.byteLength > stepBytes) yield* hashLongStrings(column, cells, count);
    else hashCells(column, cells, count);
    mixIn(cells, mixed, count);
    yield;
  }
  for (let row = 0; row < count; row++) if (mixed[row] === 0) mixed[row] = 1;
  return new Uint32Array(mixed.buffer);
}

const stepBytes = 512 * 1024;

function mixIn(scratch: Int32Array, into: Int32Array, count: number): void {
  for (let row = 0; row < count; row++) {
    const state = into[row] as number;
    into[row] = Math.imul(state ^ (scratch[row] as number), prime) ^ (state >>> 15);
  }
}

function hashCells(column: AnyColumn, into: Int32Array, count: number): void {
  if (column instanceof StringColumn) hashStrings(column, into, count);
  else if (column instanceof DictColumn) hashCodes(column, into, count);
  else if (column instanceof Int64Column) hashWords(column.words, into, count);
  else if (column instanceof Float64Column) hashWords(wordsOf(column), into, count);
  else if (column instanceof NullableColumn) {
    hashCells(column.inner, into, count);
    const { values } = column.nulls;
    for (let row = 0; row < count; row++) if (values[row] === 1) into[row] = 1;
  } else if (column instanceof ArrayColumn) hashLists(column, into, count);
  else for (let row = 0; row < count; row++) into[row] = column.at(row);
}

function hashStrings({ bytes, ends }: StringColumn, into: Int32Array, count: number): void {
  let at = 0;
  for (let row = 0; row < count; row++) {
    const end = ends[row] as number;
    let hash = end - at;
    for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), prime);
    into[row] = hash;
  }
}

/** The same for texts of any length. */
function* hashLongStrings({ bytes, ends }: StringColumn, into: Int32Array, count: number): Generator<void, void> {
  let at = 0;
  let pauseAt = stepBytes;
  for (let row = 0; row < count; row++) {
    const end = ends[row] as number;
    let hash = end - at;
    while (at < end) {
      const stop = Math.min(end, pauseAt);
      for (; at < stop; at++) hash = Math.imul(hash ^ (bytes[at] as number), prime);
      if (at < pauseAt) continue;
      pauseAt += stepBytes;
      yield;
    }
    into[row] = hash;
  }
}

function hashCodes({ keys, codes }: DictColumn, into: Int32Array, count: number): void {
  const hashes = keys.map(hashText);
  for (let row = 0; row < count; row++) into[row] = hashes[codes[row] as number] as number;
}

function hashText(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), prime);
  return hash;
}

function hashWords(words: Uint32Array, into: Int32Array, count: number): void {
  for (let row = 0; row < count; row++) {
    const high = Math.imul(words[row * 2 + 1] as number, prime);
    into[row] = Math.imul((words[row * 2] as number) ^ high, prime);
  }
}

function wordsOf({ values }: Float64Column): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
}

function hashLists(column: ArrayColumn<Float64Column> | ArrayColumn<StringColumn>, into: Int32Array, count: number) {
  const items = new Int32Array(column.items.length);
  hashCells(column.items, items, items.length);
  let at = 0;
  for (let row = 0; row < count; row++) {
    const end = column.ends.at(row);
    let hash = 7;
    for (; at < end; at++) hash = Math.imul(hash ^ (items[at] as number), prime);
    into[row] = hash;
  }
}
