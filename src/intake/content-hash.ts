// 32 bits of a row's content. Two records with one identity are the same record when these agree; the
// columns are hashed rather than the text, so that blanks and the order of keys do not matter.

import { ArrayColumn, DictColumn, Float64Column, Int64Column, NullableColumn, StringColumn } from "#base/columns.ts";
import type { AnyColumn } from "#model/tables.ts";

const prime = 0x01000193;

/** Never 0: 0 stands for "not known" where a hash is stored. */
export function hashRow(columns: readonly AnyColumn[], row: number): number {
  let hash = 0x811c9dc5;
  for (const column of columns) hash = Math.imul(hash ^ hashCell(column, row), prime) ^ (hash >>> 15);
  return hash >>> 0 || 1;
}

function hashCell(column: AnyColumn, row: number): number {
  if (column instanceof StringColumn) return hashBytes(column, row);
  if (column instanceof DictColumn) return hashText(column.at(row));
  if (column instanceof Int64Column) return hashWords(column.words, row);
  if (column instanceof Float64Column) return hashDouble(column.at(row));
  if (column instanceof NullableColumn) return column.isNull(row) ? 1 : hashCell(column.inner, row);
  if (column instanceof ArrayColumn) return hashItems(column, row);
  return column.at(row) | 0;
}

function hashBytes(column: StringColumn, row: number): number {
  const { bytes, ends } = column;
  const end = ends[row] as number;
  const start = row === 0 ? 0 : (ends[row - 1] as number);
  let hash = end - start;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), prime);
  return hash;
}

function hashText(text: string): number {
  let hash = text.length;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), prime);
  return hash;
}

function hashWords(words: Uint32Array, row: number): number {
  return Math.imul((words[row * 2] as number) ^ Math.imul(words[row * 2 + 1] as number, prime), prime);
}

const double = new Float64Array(1);
const doubleWords = new Uint32Array(double.buffer);

function hashDouble(value: number): number {
  double[0] = value;
  return hashWords(doubleWords, 0);
}

function hashItems(column: ArrayColumn<Float64Column> | ArrayColumn<StringColumn>, row: number): number {
  const end = column.ends.at(row);
  let hash = 7;
  for (let i = row === 0 ? 0 : column.ends.at(row - 1); i < end; i++)
    hash = Math.imul(hash ^ hashCell(column.items, i), prime);
  return hash;
}
