// Versions of rows in the small tables. The newest version of a row counts, so a later change must have a later version
// even if the clock was set back in between. Otherwise a revoked key would be valid again after the next start.

import type { StateChange } from "#model/state-tables.ts";

export class StateVersions {
  private last = 0n;

  note(version: bigint): void {
    if (version > this.last) this.last = version;
  }

  /** This time, or one after every noted version. */
  later(atNs: bigint): bigint {
    this.note(atNs > this.last ? atNs : this.last + 1n);
    return this.last;
  }

  /** The same changes with versions after every noted one. An order to delete has the versions that it needs. */
  toLater(changes: readonly StateChange[]): readonly StateChange[] {
    if (changes.some(({ table }) => table === "deletions")) return changes;
    const first = changes.reduce<bigint | null>(
      (least, { row }) => (least === null || row.version < least ? row.version : least),
      null,
    );
    if (first === null || first > this.last) return changes;
    const shift = this.last + 1n - first;
    return changes.map(
      (change) => ({ ...change, row: { ...change.row, version: change.row.version + shift } }) as StateChange,
    );
  }
}
