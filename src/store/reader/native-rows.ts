// Rows of an answer as objects, out of the engine's Native format. A reader declares the shape of its rows once, as a
// cell for each column; the answer's columns are held against it block by block, so a row's type is what was answered,
// and a question that is changed without its shape fails at its first row.

import type { SenderNs, ServerNs } from "#base/clock.ts";
import { Turn } from "#base/turns.ts";
import { streamBlocks } from "#store/native/block-stream.ts";
import { type DecodedBlock, type DecodedColumn, decodeBlocks } from "#store/native/decode-block.ts";
import type { Query, Store } from "#store/store.ts";

/** A column as values of type T; null for a column of another kind. */
export interface Cell<T> {
  readonly name: string;
  read(column: DecodedColumn): ((row: number) => T) | null;
}

export type RowShape = Readonly<Record<string, Cell<unknown>>>;
export type RowOf<S extends RowShape> = { readonly [K in keyof S]: S[K] extends Cell<infer T> ? T : never };

type NumberColumn = Extract<DecodedColumn, { kind: "uint8" | "uint32" | "int32" | "float64" }>;
type BigColumn = Extract<DecodedColumn, { kind: "int64" | "uint64" }>;

function ofNumbers<T>(name: string, kinds: readonly string[], to: (value: number) => T): Cell<T> {
  return {
    name,
    read(column) {
      if (!kinds.includes(column.kind)) return null;
      const { values } = column as NumberColumn;
      return (row) => to(values[row] as number);
    },
  };
}

function ofBigs<T>(to: (value: bigint) => T): Cell<T> {
  return {
    name: "a 64-bit integer",
    read(column) {
      if (column.kind !== "int64" && column.kind !== "uint64") return null;
      const { values } = column as BigColumn;
      return (row) => to(values[row] as bigint);
    },
  };
}

/** A float as the API writes it. */
export type FloatWord = number | "NaN" | "Infinity" | "-Infinity";

export const text: Cell<string> = { name: "text", read: (column) => toTexts(column) };
export const int: Cell<number> = ofNumbers("an integer", ["uint8", "uint32", "int32"], (value) => value);
export const flag: Cell<boolean> = ofNumbers("a flag", ["uint8"], (value) => value === 1);
export const float: Cell<number> = ofNumbers("a float", ["float64"], (value) => value);
export const floatWord: Cell<FloatWord> = ofNumbers("a float", ["float64"], toFloatWord);
export const big: Cell<bigint> = ofBigs((value) => value);
/** Times of whoever sent a record, and our own. */
export const senderNs: Cell<SenderNs> = ofBigs((value) => value);
export const serverNs: Cell<ServerNs> = ofBigs((value) => value);
/** A 64-bit integer as the API writes it: decimal text. */
export const decimal: Cell<string> = ofBigs(String);
/** A 64-bit integer that counts something, which stays below 2 ** 53. */
export const count: Cell<number> = ofBigs(Number);

/** One of several words; the writer guarantees which. */
export function word<T extends string>(): Cell<T> {
  return text as Cell<T>;
}

export function nullable<T>(cell: Cell<T>): Cell<T | null> {
  return {
    name: `${cell.name} or null`,
    read(column) {
      if (column.kind !== "nullable") return cell.read(column);
      const { nulls, inner } = column;
      const valueAt = cell.read(inner);
      return valueAt === null ? null : (row) => (nulls[row] === 1 ? null : valueAt(row));
    },
  };
}

export function list<T>(cell: Cell<T>): Cell<T[]> {
  return {
    name: `a list of ${cell.name}`,
    read(column) {
      const itemAt = column.kind === "array" ? cell.read(column.items) : null;
      if (column.kind !== "array" || itemAt === null) return null;
      const { ends } = column;
      return (row) => {
        const from = row === 0 ? 0 : Number(ends[row - 1]);
        return Array.from({ length: Number(ends[row]) - from }, (_, item) => itemAt(from + item));
      };
    },
  };
}

export async function readRows<S extends RowShape>(store: Store, shape: S, query: Query): Promise<RowOf<S>[]> {
  const rows: RowOf<S>[] = [];
  const blocks = await readNativeBlocks(store, query);
  const turn = new Turn();
  for (const block of blocks)
    for (const row of rowsOf(block, shape, query)) {
      rows.push(row);
      // A row may have megabytes, or there may be hundreds of thousands.
      if (turn.isOver) await turn.pass();
    }
  return rows;
}

/** The first row, of an answer that has one or none. */
export async function readRow<S extends RowShape>(store: Store, shape: S, query: Query): Promise<RowOf<S> | null> {
  return (await readRows(store, shape, query))[0] ?? null;
}

/** The values of an answer with one column. */
export async function readColumn<T>(store: Store, cell: Cell<T>, query: Query): Promise<T[]> {
  const values: T[] = [];
  const blocks = await readNativeBlocks(store, query);
  const turn = new Turn();
  for (const block of blocks) {
    const [name = "", ...others] = block.columns.keys();
    if (others.length > 0) throw misshapen(`has more columns than one: ${others.join(", ")}`, query);
    const valueAt = readerOf(block, name, cell, query);
    for (let row = 0; row < block.rows; row++) {
      values.push(valueAt(row));
      if (turn.isOver) await turn.pass();
    }
  }
  return values;
}

/** The first value of an answer with one column; null if it has no rows. */
export async function readValue<T>(store: Store, cell: Cell<T>, query: Query): Promise<T | null> {
  return (await readColumn(store, cell, query))[0] ?? null;
}

/** An answer of two columns as a map from the first to the second. */
export async function readMap<K, V>(
  store: Store,
  keyCell: Cell<K>,
  valueCell: Cell<V>,
  query: Query,
): Promise<Map<K, V>> {
  const map = new Map<K, V>();
  const turn = new Turn();
  for (const block of await readNativeBlocks(store, query)) {
    const [key = "", value = "", ...others] = block.columns.keys();
    if (others.length > 0) throw misshapen(`has more columns than two: ${others.join(", ")}`, query);
    const keyAt = readerOf(block, key, keyCell, query);
    const valueAt = readerOf(block, value, valueCell, query);
    for (let row = 0; row < block.rows; row++) {
      map.set(keyAt(row), valueAt(row));
      if (turn.isOver) await turn.pass();
    }
  }
  return map;
}

/** For answers that are too large to be held. */
export async function* streamRows<S extends RowShape>(store: Store, shape: S, query: Query): AsyncGenerator<RowOf<S>> {
  const turn = new Turn();
  for await (const block of streamNativeBlocks(store, query)) {
    // One row may have megabytes.
    if (turn.isOver) await turn.pass();
    for (const row of rowsOf(block, shape, query)) {
      if (turn.isOver) await turn.pass();
      yield row;
    }
  }
}

/** A larger answer is joined and read in turns with everybody else's work. */
const largeAnswerBytes = 4 * 1024 * 1024;

/** The columns of an answer, for callers that need no object per row. */
export async function readNativeBlocks(store: Store, query: Query): Promise<DecodedBlock[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of store.stream(query, { format: "Native" })) {
    chunks.push(chunk);
    size += chunk.length;
  }
  const isLarge = size > largeAnswerBytes;
  const turn = new Turn();
  if (isLarge) await turn.pass();
  const bytes = Buffer.concat(chunks);
  if (isLarge) await turn.pass();
  const blocks: DecodedBlock[] = [];
  for (const block of decodeBlocks(bytes)) {
    if (block.rows > 0) blocks.push(block);
    if (isLarge && turn.isOver) await turn.pass();
  }
  return blocks;
}

export async function* streamNativeBlocks(store: Store, query: Query): AsyncGenerator<DecodedBlock> {
  for await (const block of streamBlocks(store.stream(query, { format: "Native" }))) if (block.rows > 0) yield block;
}

function* rowsOf<S extends RowShape>(block: DecodedBlock, shape: S, query: Query): Generator<RowOf<S>> {
  const names = Object.keys(shape);
  const cells = names.map((name) => readerOf(block, name, shape[name] as Cell<unknown>, query));
  if (block.columns.size !== names.length) {
    const others = [...block.columns.keys()].filter((name) => !names.includes(name));
    throw misshapen(`has columns that its rows have not: ${others.join(", ")}`, query);
  }
  for (let row = 0; row < block.rows; row++) {
    const object: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++)
      object[names[at] as string] = (cells[at] as (row: number) => unknown)(row);
    yield object as RowOf<S>;
  }
}

function readerOf<T>(block: DecodedBlock, name: string, cell: Cell<T>, query: Query): (row: number) => T {
  const column = block.columns.get(name);
  if (column === undefined) throw misshapen(`has no column ${name}`, query);
  const read = cell.read(column);
  if (read === null) throw misshapen(`has ${column.kind} in the column ${name}, which is to be ${cell.name}`, query);
  return read;
}

function misshapen(what: string, { sql }: Query): Error {
  return new Error(`the store's answer ${what}: ${sql.slice(0, 200)}`);
}

function toTexts(column: DecodedColumn): ((row: number) => string) | null {
  if (column.kind === "dict") {
    const { keys, codes } = column;
    return (row) => keys[codes[row] as number] as string;
  }
  if (column.kind !== "string") return null;
  const { bytes, ends } = column;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (row) => buffer.toString("utf8", row === 0 ? 0 : ends[row - 1], ends[row]);
}

function toFloatWord(value: number): FloatWord {
  return Number.isFinite(value) ? value : (String(value) as FloatWord);
}
