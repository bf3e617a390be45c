// Accepted records that the journal has lost: damaged ones that were skipped, and missing first or last segments. A
// write that was cut off when its process ended is not one of them, because it was never acknowledged; it is reported
// once.

import type { Journal } from "#journal/journal.ts";

export class JournalDamage {
  private readonly journal: Pick<Journal, "state">;
  /** Between what is stored and the start of the journal. */
  private readonly missing: number;

  constructor(journal: Pick<Journal, "state">, storedTo: number) {
    this.journal = journal;
    this.missing = Math.max(0, journal.state().firstPosition - 1 - storedTo);
  }

  /** The number lost, or more. */
  get records(): number {
    const { corruptRecords, isEndMissing } = this.journal.state();
    return corruptRecords + this.missing + (isEndMissing ? 1 : 0);
  }

  sentences(): string[] {
    const { records } = this;
    if (records === 0) return [];
    const { isEndMissing } = this.journal.state();
    const count = isEndMissing
      ? `The journal's last file is gone or an older copy, and ${records} or more`
      : `${records}`;
    return [
      `${count} accepted records could not be read back from the journal and are lost: its files were damaged or removed. ` +
        "Check the disk; clients that still have them can send them again.",
    ];
  }

  /** Reported once, at the start. */
  remarks(): string[] {
    const { tornBytes } = this.journal.state();
    if (tornBytes === 0) return [];
    return [`The last write to the journal was cut off: ${tornBytes} bytes, which were never acknowledged.`];
  }
}
