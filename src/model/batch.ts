// What intake hands to the writer: the rows of a journal record, or of a few small ones made durable together, in the shape
// all protocols share.

import type { StateChange } from "./state-tables.ts";
import type { FactTable, Rows } from "./tables.ts";

export interface TablePart<T extends FactTable = FactTable> {
  readonly table: T;
  readonly rows: Rows<T>;
  /** One byte a row, 1 where the row is a duplicate and must not be stored; null when all are kept. */
  readonly dropped: Uint8Array | null;
}

export type AnyTablePart = { readonly [T in FactTable]: TablePart<T> }[FactTable];

export interface Batch {
  /** The journal records these rows came from: from `first` to `position`, both included. */
  readonly first: number;
  readonly position: number;
  readonly parts: readonly AnyTablePart[];
  readonly state: readonly StateChange[];
  /** Roughly what this takes in memory. */
  readonly bytes: number;
}
