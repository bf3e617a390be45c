// Applied rows have two readers: the writer with its listeners, and the live hub for as long as it keeps rows for late
// subscribers. Both follow the order of the journal, so two positions say whose memory is free.

import { noteWaiting } from "#base/array-pool.ts";
import type { Batch } from "#model/batch.ts";
import { releaseRows } from "#model/tables.ts";

export class RowsInUse {
  private readonly batches: Batch[] = [];
  /** Of `batches`, those before this one are released already. */
  private first = 0;
  private storedTo: number;
  private forgottenTo: number;

  constructor(position: number) {
    this.storedTo = position;
    this.forgottenTo = position;
  }

  /** To be called in the order of the journal. */
  add(batch: Batch): void {
    this.batches.push(batch);
    noteWaiting(batch.bytes);
  }

  /** Everything up to here is stored, and the listeners have been called. */
  stored(to: number): void {
    this.storedTo = Math.max(this.storedTo, to);
    this.release();
  }

  /** The hub keeps nothing up to here. */
  forgotten(to: number): void {
    this.forgottenTo = Math.max(this.forgottenTo, to);
    this.release();
  }

  /** Nothing is used again: who still reads rows may do so. */
  close(): void {
    for (const { bytes } of this.batches.splice(0).slice(this.first)) noteWaiting(-bytes);
    this.first = 0;
  }

  private release(): void {
    const { batches } = this;
    const to = Math.min(this.storedTo, this.forgottenTo);
    for (let batch = batches[this.first]; batch !== undefined && batch.position <= to; batch = batches[this.first]) {
      noteWaiting(-batch.bytes);
      for (const { rows } of batch.parts) releaseRows(rows);
      this.first++;
    }
    if (this.first < batches.length / 2) return;
    batches.splice(0, this.first);
    this.first = 0;
  }
}
