// Fingerprints of stored rows (see the model), worked out by the engine.

import type { StoredRows } from "#model/fingerprint.ts";

const placeHash = "cityHash64(jpos, jrow, received_ns)";

/** Aggregates over a fact table; `before` is a journal position. */
export function fingerprintSql(before: string): string {
  return `toUInt32(count()) AS rows, sum(${placeHash}) AS sum, max(jpos) AS last,
    toUInt32(countIf(jpos <= ${before})) AS rows_before, sumIf(${placeHash}, jpos <= ${before}) AS sum_before`;
}

/**
 * Names the parts that hold some rows. The engine never changes a part, it only makes new ones under new names; so while
 * this is the same, the rows are. A merge changes it too, and then only the fingerprint tells.
 */
export const partsSql = "sum(cityHash64(_part)) AS parts";

export interface FingerprintRow {
  readonly rows: number;
  readonly sum: string;
  readonly last: string;
  readonly rows_before: number;
  readonly sum_before: string;
}

export function toStoredRows(row: FingerprintRow): StoredRows {
  return {
    all: { rows: row.rows, sum: row.sum },
    before: { rows: row.rows_before, sum: row.sum_before },
    last: BigInt(row.last),
  };
}
