// Native blocks for the small state tables, whose rows are plain objects.

import type {
  ArrayColumn,
  DictColumn,
  Float64Column,
  Int64Column,
  NullableColumn,
  StringColumn,
} from "#base/columns.ts";
import { type AnyColumn, type ColumnType, createColumn } from "#model/tables.ts";
import { encodeColumns, type NativeBlock } from "./encode-block.ts";

/** What a row object holds for a column of each type. */
export interface ValueOf {
  String: string;
  "LowCardinality(String)": string;
  Int64: bigint | number;
  Int32: number;
  UInt32: number;
  UInt8: number;
  Float64: number;
  "Nullable(String)": string | null;
  "Nullable(Int64)": bigint | number | null;
  "Nullable(Float64)": number | null;
  "Nullable(UInt8)": number | null;
  "Array(Float64)": readonly number[];
  "Array(String)": readonly string[];
}

export type RowOf<M extends Readonly<Record<string, ColumnType>>> = { readonly [C in keyof M]: ValueOf[M[C]] };

export function encodeObjects<M extends Readonly<Record<string, ColumnType>>>(
  types: M,
  rows: readonly RowOf<M>[],
): NativeBlock {
  const columns = new Map<string, AnyColumn>();
  for (const [name, type] of Object.entries(types)) {
    const column = createColumn(type);
    for (const row of rows) pushValue(type, column, row[name] as ValueOf[ColumnType]);
    columns.set(name, column);
  }
  const runs = rows.length === 0 ? [] : [{ part: 0, start: 0, end: rows.length }];
  return encodeColumns(types, (name) => [columns.get(name) as AnyColumn], runs);
}

type Scalar = string | number | bigint;

function pushValue(type: string, column: AnyColumn, value: ValueOf[ColumnType]): void {
  if (type.startsWith("Nullable(")) {
    const nullable = column as NullableColumn<StringColumn>;
    if (value === null) nullable.pushNull();
    else pushScalar(type.slice(9, -1), nullable.present(), value as Scalar);
  } else if (type.startsWith("Array(")) {
    const array = column as ArrayColumn<StringColumn>;
    for (const item of value as readonly Scalar[]) pushScalar(type.slice(6, -1), array.items, item);
    array.finishRow();
  } else pushScalar(type, column, value as Scalar);
}

function pushScalar(type: string, column: AnyColumn, value: Scalar): void {
  if (type === "Int64") (column as Int64Column).pushBigInt(BigInt(value));
  else if (typeof value === "string") (column as StringColumn | DictColumn).push(value);
  else (column as Float64Column).push(value as number);
}
