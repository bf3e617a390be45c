// Which batches were taken, so that one that arrives again with the same id and content is recognised at once. The hashes of
// the latest are kept. For earlier ones, of the documented day, a filter says whether the store must be asked. It holds only
// those, so that it is hardly ever wrong: a question to the store costs more than dozens of batches.

import type { ServerNs } from "#base/clock.ts";
import { TextFilter } from "#base/text-filter.ts";

/** A batch as it first arrived. */
export interface KnownBatch {
  readonly contentHash: string;
  /** The key that its rows are stored under. */
  readonly groupKey: string;
  readonly source: string;
  /** '' when the request named no run. */
  readonly runOverride: string;
  readonly receivedNs: ServerNs;
}

interface KeptBatch extends KnownBatch {
  readonly position: number;
}

const keptMax = 50_000;
const filterNs = 24n * 3600n * 1_000_000_000n;

export class BatchLedger {
  private readonly kept = new Map<string, KeptBatch>();
  private filter = new TextFilter();
  private before = new TextFilter();
  private filterSinceNs: ServerNs | null = null;
  /** The batches of the last day are all in the filters. */
  private isWarm: boolean;

  constructor(isWarm: boolean) {
    this.isWarm = isWarm;
  }

  get(batchId: string): KnownBatch | undefined {
    return this.kept.get(batchId);
  }

  /** Whether the store may know a batch that is not kept. */
  mayBeStored(batchId: string): boolean {
    return !this.isWarm || this.filter.has(batchId) || this.before.has(batchId);
  }

  add(batchId: string, batch: KnownBatch, position: number): void {
    this.kept.set(batchId, { ...batch, position });
  }

  /** What the store says of a batch. */
  recall(batchId: string, batch: KnownBatch): void {
    if (!this.kept.has(batchId)) this.kept.set(batchId, { ...batch, position: 0 });
  }

  /** Stored batches of the last day: read at start, or announced by another collector. */
  note(batchIds: Iterable<string>): void {
    for (const id of batchIds) this.filter.add(id);
  }

  warm(): void {
    this.isWarm = true;
  }

  forget(groupKeys: ReadonlySet<string>): void {
    for (const [id, { groupKey }] of this.kept) if (groupKeys.has(groupKey)) this.kept.delete(id);
  }

  shrink(storedPosition: number, nowNs: ServerNs, share: number): void {
    this.filterSinceNs ??= nowNs;
    if (nowNs - this.filterSinceNs > filterNs) {
      this.before = this.filter;
      this.filter = new TextFilter();
      this.filterSinceNs = nowNs;
    }
    const max = keptMax * share;
    if (this.kept.size <= max) return;
    // In the order they came.
    for (const [id, { position }] of this.kept) {
      if (this.kept.size <= (max * 7) / 8 || position > storedPosition) break;
      this.kept.delete(id);
      this.filter.add(id);
    }
  }
}
