// Versions of the small state. The newest version of a row counts, so a later change must have a later version even if the
// clock was set back in between. Otherwise a revoked key would be valid again after the next start.

import type { StateChange } from "#model/state-tables.ts";

export class StateVersions {
  private last = 0n;

  /** A row has this version. */
  note(version: bigint): void {
    if (version > this.last) this.last = version;
  }

  /** This moment, or one after all that were noted. */
  later(atNs: bigint): bigint {
    this.note(atNs > this.last ? atNs : this.last + 1n);
    return this.last;
  }

  /** The same changes, moved behind all that were noted. An order to delete says itself what it stands over. */
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
