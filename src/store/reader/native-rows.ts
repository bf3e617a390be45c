// Rows of an answer as objects, read from the engine's Native format: for answers of many rows that are worked on here.
// As JSON they would be written, rewritten and parsed once more, and every 64-bit integer would be a text.

import { type DecodedBlock, type DecodedColumn, decodeBlocks } from "#store/native/decode-block.ts";
import type { Query, ReadOptions, Store } from "#store/store.ts";

/** 64-bit integers are bigints here, and floats are numbers whatever they are. */
export async function readNativeRows<T>(store: Store, query: Query, options: ReadOptions = {}): Promise<T[]> {
  const rows: T[] = [];
  for (const block of await readNativeBlocks(store, query, options)) pushRows(block, rows);
  return rows;
}

/** The answer's columns, for those who need no object a row. */
export async function readNativeBlocks(store: Store, query: Query, options: ReadOptions = {}): Promise<DecodedBlock[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.stream(query, { ...options, format: "Native" })) chunks.push(chunk);
  return decodeBlocks(Buffer.concat(chunks)).filter((block) => block.rows > 0);
}

function pushRows<T>(block: DecodedBlock, rows: T[]): void {
  const names = [...block.columns.keys()];
  const cells = [...block.columns.values()].map(toCells);
  for (let row = 0; row < block.rows; row++) {
    const object: Record<string, unknown> = {};
    for (let column = 0; column < names.length; column++)
      object[names[column] as string] = (cells[column] as Cells)(row);
    rows.push(object as T);
  }
}

type Cells = (row: number) => unknown;

function toCells(column: DecodedColumn): Cells {
  switch (column.kind) {
    case "string":
      return toTexts(column);
    case "dict": {
      const { keys, codes } = column;
      return (row) => keys[codes[row] as number];
    }
    case "nullable": {
      const { nulls } = column;
      const inner = toCells(column.inner);
      return (row) => (nulls[row] === 1 ? null : inner(row));
    }
    case "fixed":
      throw new Error("a fixed string is no cell of a row");
    default: {
      const { values } = column;
      return (row) => values[row];
    }
  }
}

function toTexts({ bytes, ends }: Extract<DecodedColumn, { kind: "string" }>): Cells {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (row) => buffer.toString("utf8", row === 0 ? 0 : ends[row - 1], ends[row]);
}
