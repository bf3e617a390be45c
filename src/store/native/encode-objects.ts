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
    const push = pusherOf(type, column);
    for (const row of rows) push(row[name] as ValueOf[ColumnType]);
    columns.set(name, column);
  }
  const runs = rows.length === 0 ? [] : [{ part: 0, start: 0, end: rows.length }];
  return encodeColumns(types, (name) => [columns.get(name) as AnyColumn], runs);
}

type Push = (value: ValueOf[ColumnType]) => void;

/** Resolves a type once for all rows. */
function pusherOf(type: string, column: AnyColumn): Push {
  if (type.startsWith("Nullable(")) {
    const nullable = column as NullableColumn<StringColumn>;
    const inner = pusherOf(type.slice(9, -1), nullable.inner);
    return (value) => {
      if (value === null) nullable.pushNull();
      else {
        nullable.present();
        inner(value);
      }
    };
  }
  if (type.startsWith("Array(")) {
    const array = column as ArrayColumn<StringColumn>;
    const push = pusherOf(type.slice(6, -1), array.items);
    return (value) => {
      for (const item of value as readonly (string | number)[]) push(item);
      array.finishRow();
    };
  }
  if (type === "Int64") return (value) => (column as Int64Column).pushBigInt(BigInt(value as bigint | number));
  return (value) => (column as StringColumn | DictColumn | Float64Column).push(value as never);
}
