// Appends rows of a table to others, so that the rows of small inputs share one set of columns.

import type {
  ArrayColumn,
  DictColumn,
  Float64Column,
  Int64Column,
  NullableColumn,
  StringColumn,
  UInt8Column,
} from "#base/columns.ts";
import { type AnyColumn, type ColumnType, type FactTable, factTables, type Rows } from "./tables.ts";

type Append = (into: AnyColumn, from: AnyColumn, start: number, end: number) => void;

/** Copies the rows, except those for which `dropped` has a 1. */
export function appendRows<T extends FactTable>(
  table: T,
  into: Rows<T>,
  from: Rows<T>,
  dropped: Uint8Array | null,
): void {
  const count = from.group_key.length;
  for (let start = 0; start < count; start++) {
    if (dropped?.[start] === 1) continue;
    let end = dropped === null ? count : start + 1;
    while (end < count && dropped?.[end] !== 1) end++;
    for (const { name, append } of columnsOf[table])
      append((into as Columns)[name] as AnyColumn, (from as Columns)[name] as AnyColumn, start, end);
    start = end;
  }
}

type Columns = Readonly<Record<string, AnyColumn>>;

/** Below this a plain loop beats the call into the runtime's memcpy. */
const fewBytes = 64;

function appendTexts(into: StringColumn, from: StringColumn, start: number, end: number): void {
  const first = start === 0 ? 0 : (from.ends[start - 1] as number);
  const last = from.ends[end - 1] as number;
  into.reserve(into.length + end - start, into.byteLength + last - first);
  const { bytes, ends } = into;
  const moved = into.byteLength - first;
  if (last - first < fewBytes) for (let at = first; at < last; at++) bytes[at + moved] = from.bytes[at] as number;
  else bytes.set(from.bytes.subarray(first, last), into.byteLength);
  for (let row = start; row < end; row++) ends[into.length++] = (from.ends[row] as number) + moved;
  into.byteLength += last - first;
}

function appendWords(into: DictColumn, { keys, codes }: DictColumn, start: number, end: number): void {
  for (let row = start; row < end; row++) into.push(keys[codes[row] as number] as string);
}

function appendInt64(into: Int64Column, { words }: Int64Column, start: number, end: number): void {
  into.reserve(into.length + end - start);
  for (let row = start; row < end; row++) into.pushWords(words[row * 2] as number, words[row * 2 + 1] as number);
}

function appendFixed(into: Float64Column, from: Float64Column, start: number, end: number): void {
  into.append(from, start, end);
}

function nullable(appendInner: Append): Append {
  return (into, from, start, end) => {
    const [mine, theirs] = [into as NullableColumn<UInt8Column>, from as NullableColumn<UInt8Column>];
    mine.nulls.append(theirs.nulls, start, end);
    appendInner(mine.inner, theirs.inner, start, end);
  };
}

function list(appendItems: Append): Append {
  return (into, from, start, end) => {
    const [mine, theirs] = [into as ArrayColumn<Float64Column>, from as ArrayColumn<Float64Column>];
    const first = start === 0 ? 0 : theirs.ends.at(start - 1);
    const moved = mine.items.length - first;
    const last = theirs.ends.at(end - 1);
    if (last > first) appendItems(mine.items, theirs.items, first, last);
    for (let row = start; row < end; row++) mine.ends.push(theirs.ends.at(row) + moved);
  };
}

const appends: { readonly [C in ColumnType]: Append } = {
  String: appendTexts as Append,
  "LowCardinality(String)": appendWords as Append,
  Int64: appendInt64 as Append,
  Int32: appendFixed as Append,
  UInt32: appendFixed as Append,
  UInt8: appendFixed as Append,
  Float64: appendFixed as Append,
  "Nullable(String)": nullable(appendTexts as Append),
  "Nullable(Int64)": nullable(appendInt64 as Append),
  "Nullable(Float64)": nullable(appendFixed as Append),
  "Nullable(UInt8)": nullable(appendFixed as Append),
  "Array(Float64)": list(appendFixed as Append),
  "Array(String)": list(appendTexts as Append),
};

const columnsOf = Object.fromEntries(
  Object.entries(factTables).map(([table, columns]) => [
    table,
    Object.entries(columns).map(([name, type]) => ({ name, append: appends[type] })),
  ]),
) as unknown as { readonly [T in FactTable]: readonly { readonly name: string; readonly append: Append }[] };
