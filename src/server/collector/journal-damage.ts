// Accepted records that the journal no longer has: damaged ones that were passed over, and a first segment that is gone.
// A write that its writer did not survive is none of them, because nobody was told that it was accepted.

import type { Journal } from "#journal/journal.ts";

export class JournalDamage {
  private readonly journal: Pick<Journal, "state">;
  /** Behind what is stored, and before what the journal begins with. */
  private readonly missing: number;

  constructor(journal: Pick<Journal, "state">, storedTo: number) {
    this.journal = journal;
    this.missing = Math.max(0, journal.state().firstPosition - 1 - storedTo);
  }

  get records(): number {
    return this.journal.state().corruptRecords + this.missing;
  }

  sentences(): string[] {
    const { records } = this;
    if (records === 0) return [];
    return [
      `${records} accepted records could not be read back from the journal and are lost: its files were damaged or removed. ` +
        "Look at the disk; clients that still have them can send them again.",
    ];
  }
}
