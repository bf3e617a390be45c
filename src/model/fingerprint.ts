// What tells whether rows that were read before are still all there is. A count alone would not: a merge may drop a
// second copy while a new row comes in. Every row has a place in a journal, and the sum of the hashes of these places
// names the set of rows, whoever wrote them.

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

/** Behind no row at all. */
export const beforeAll: bigint = -1n;

export function isSameRows(a: Fingerprint, b: Fingerprint): boolean {
  return a.rows === b.rows && a.sum === b.sum;
}
