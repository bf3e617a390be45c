// Batches that have no plan yet, and when their plan closes: when it is large enough, or when its first row has waited long
// enough. How long that is depends on whether rows keep coming, and on whether the next ones would still be in time.

import assert from "node:assert/strict";
import type { Batch } from "#model/batch.ts";

export interface Lingering {
  /** How long a plan waits for more rows when none was sent lately. */
  readonly lingerMs: number;
  /** The same while rows keep coming. */
  readonly steadyLingerMs: number;
}

/** What becomes one plan. */
export interface Taken {
  /** The journal records in it: everything behind the plan before, also where records were lost. */
  readonly from: number;
  readonly to: number;
  readonly batches: readonly Batch[];
  readonly bytes: number;
}

/** Rows that come within this time of the last plan keep coming. */
const steadyMs = 1000;
/** What comes together, as the pieces of one round of senders do, is there within this time. */
const togetherMs = 40;
/** Of a batch, beside its rows. */
const batchBytes = 256;

export class Gathered {
  bytes = 0;
  /** When the last plan was stored. */
  finishedAt = Number.NEGATIVE_INFINITY;
  private batches: Batch[] = [];
  /** When the first of them came. */
  private firstAt = 0;
  /** When the last one came, and how long there was none before those of late. */
  private addedAt = Number.NEGATIVE_INFINITY;
  private pauseMs = 0;
  private addedTo: number;
  private takenTo: number;
  private readonly options: Lingering;

  constructor(options: Lingering, position: number) {
    this.options = options;
    this.addedTo = position;
    this.takenTo = position;
  }

  get isEmpty(): boolean {
    return this.batches.length === 0;
  }

  /** In the order of the journal: a plan says up to where everything is stored. */
  add(batch: Batch): void {
    assert(batch.position > this.addedTo, "batches come in the order of the journal");
    this.addedTo = batch.position;
    const nowMs = performance.now();
    const pauseMs = nowMs - this.addedAt;
    this.addedAt = nowMs;
    if (pauseMs > togetherMs && pauseMs < steadyMs) this.pauseMs += (pauseMs - this.pauseMs) / 4;
    if (this.isEmpty) this.firstAt = nowMs;
    this.batches.push(batch);
    this.bytes += batch.bytes + batchBytes;
  }

  /** As many as there is room for in a plan, and one at least. */
  take(bytesMax: number): Taken {
    let bytes = 0;
    let count = 0;
    for (const batch of this.batches) {
      if (count > 0 && bytes + batch.bytes > bytesMax) break;
      bytes += batch.bytes + batchBytes;
      count++;
    }
    const batches = this.batches.slice(0, count);
    this.batches = this.batches.slice(count);
    this.bytes -= bytes;
    const from = this.takenTo + 1;
    this.takenTo = (batches.at(-1) as Batch).position;
    return { from, to: this.takenTo, batches, bytes };
  }

  get closesAt(): number {
    return this.isLast() ? Math.min(this.latestAt, this.addedAt + togetherMs) : this.latestAt;
  }

  /** Whether the next rows, if they keep coming as they did, would come too late for the plan: then nobody waits for them. */
  isLast(): boolean {
    return this.isSteady && this.addedAt + this.pauseMs > this.latestAt;
  }

  private get latestAt(): number {
    const { lingerMs, steadyLingerMs } = this.options;
    return this.firstAt + (this.isSteady ? steadyLingerMs : lingerMs);
  }

  private get isSteady(): boolean {
    return this.firstAt - this.finishedAt < steadyMs;
  }
}
