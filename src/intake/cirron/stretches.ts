// The rows of a large batch in stretches, between which other work gets its turn.

import type { CirronRows } from "./rows.ts";

export interface Stretch {
  readonly table: keyof CirronRows;
  readonly from: number;
  readonly to: number;
}

/** Spans first: marks and snapshots name them. */
export const tables = ["spans", "marks", "snapshots"] as const;

/** Rows between two pauses. */
const rowsAtOnce = 4096;

export function* stretchesOf(rows: CirronRows, table: keyof CirronRows): Generator<Stretch> {
  const count = rows[table].span_id.length;
  for (let from = 0; from < count; from += rowsAtOnce) yield { table, from, to: Math.min(count, from + rowsAtOnce) };
}
