// Batches without a plan, and when their plan closes: when it is large enough, or when its first row has waited long
// enough. How long that is depends on whether rows keep coming, and on whether the next ones would still be in time.

import assert from "node:assert/strict";
import type { Batch } from "#model/batch.ts";

export interface Lingering {
  /** How long a plan waits for more rows if none was sent lately. */
  readonly lingerMs: number;
  /** The same while rows keep coming. */
  readonly steadyLingerMs: number;
}

/** What becomes one plan. */
export interface Taken {
  /** The journal records in it: everything after the plan before, including numbers whose records were lost. */
  readonly from: number;
  readonly to: number;
  readonly batches: readonly Batch[];
  readonly bytes: number;
}

/** Rows keep coming if they come within this time of the last plan. */
const steadyMs = 1000;
/** Batches that belong together, such as the pieces of one round of senders, arrive within this time. */
const togetherMs = 40;
/** What a batch takes beside its rows. */
const batchBytes = 256;

export class Gathered {
  bytes = 0;
  /** When the last plan was stored. */
  finishedAt = Number.NEGATIVE_INFINITY;
  private batches: Batch[] = [];
  /** When the first of them came. */
  private firstAt = 0;
  /** When the last batch came, and the usual pause between rounds. */
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

  /** Takes as many as fit a plan, and at least one. */
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

  /**
   * Whether the next rows, if they keep coming as they did, would be too late for the plan: then it does not wait for
   * them.
   */
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
