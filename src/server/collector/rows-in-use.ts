// The rows of applied batches have two readers: the writer with its listeners, and the live hub, which keeps them for
// late subscribers. Both follow the order of the journal, so two positions tell which rows are free.

import type { Batch } from "#model/batch.ts";
import { releaseRows } from "#model/tables.ts";

export class RowsInUse {
  private readonly batches: Batch[] = [];
  /** The batches before this index are released already. */
  private first = 0;
  private storedTo: number;
  private forgottenTo: number;

  constructor(position: number) {
    this.storedTo = position;
    this.forgottenTo = position;
  }

  /** Call it in the order of the journal. */
  add(batch: Batch): void {
    this.batches.push(batch);
  }

  /** Everything up to this position is stored, and the listeners have been called. */
  stored(to: number): void {
    this.storedTo = Math.max(this.storedTo, to);
    this.release();
  }

  /** The hub has dropped everything up to this position. */
  forgotten(to: number): void {
    this.forgottenTo = Math.max(this.forgottenTo, to);
    this.release();
  }

  /** Releases nothing, because somebody may still read rows. */
  close(): void {
    this.batches.length = 0;
    this.first = 0;
  }

  private release(): void {
    const { batches } = this;
    const to = Math.min(this.storedTo, this.forgottenTo);
    for (let batch = batches[this.first]; batch !== undefined && batch.position <= to; batch = batches[this.first]) {
      for (const { rows } of batch.parts) releaseRows(rows);
      this.first++;
    }
    if (this.first < batches.length / 2) return;
    batches.splice(0, this.first);
    this.first = 0;
  }
}
