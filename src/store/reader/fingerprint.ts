// Tells whether rows that were read before are still all there is. A count alone would not: a merge may drop a second
// copy while a new row comes in. Every row has a place in a journal, and the sum of the hashes of these places
// identifies the set of rows, whoever wrote them.

import { big, decimal, int, type RowOf } from "./native-rows.ts";

export interface Fingerprint {
  readonly rows: number;
  readonly sum: string;
}

export interface StoredRows {
  readonly all: Fingerprint;
  /** Of the rows up to the journal position that was asked for. */
  readonly before: Fingerprint;
  /** The greatest journal position. */
  readonly last: bigint;
}

/** A position before every row. */
export const beforeAll: bigint = -1n;

export function isSameRows(a: Fingerprint, b: Fingerprint): boolean {
  return a.rows === b.rows && a.sum === b.sum;
}

const placeHash = "cityHash64(jpos, jrow, received_ns)";

/** Aggregates over a fact table; `before` is a journal position. */
export function fingerprintSql(before: string): string {
  return `toUInt32(count()) AS rows, sum(${placeHash}) AS sum, max(jpos) AS last,
    toUInt32(countIf(jpos <= ${before})) AS rows_before, sumIf(${placeHash}, jpos <= ${before}) AS sum_before`;
}

/**
 * Identifies the parts that hold some rows. The engine never changes a part, it only makes new ones under new names; so
 * while this is the same, the rows are. A merge changes it too, and then only the fingerprint tells.
 */
export const partsSql = "sum(cityHash64(_part)) AS parts";

export const fingerprintRow = { rows: int, sum: decimal, last: big, rows_before: int, sum_before: decimal };

export function toStoredRows(row: RowOf<typeof fingerprintRow>): StoredRows {
  return {
    all: { rows: row.rows, sum: row.sum },
    before: { rows: row.rows_before, sum: row.sum_before },
    last: row.last,
  };
}
