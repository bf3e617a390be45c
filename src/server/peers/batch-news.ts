// News of Cirron batches between collectors. A collector that has stored some announces which they are and where, in
// one message per stored plan, whatever the number of rows. Most news concerns nothing that this collector has in
// memory; then the store is not asked. What news did not bring is read from the store from time to time, and only that:
// taking in a batch of a known session means reading the whole session.

import type { Collector } from "#server/collector/collector.ts";
import {
  noteBatchIds,
  type PeerBatch,
  type PeerComponent,
  readPeerBatches,
  takeAwaited,
  takeNear,
  takePeerBatches,
} from "#server/collector/peer-batches.ts";
import { readCollectorPositions } from "#store/collectors.ts";
import { HeardJournals } from "./heard-journals.ts";

export interface BatchTidings {
  /** These and earlier news contain all batches of the sender's journal after one position and up to another. */
  readonly after: number;
  readonly to: number;
  readonly batches: readonly PeerBatch[];
  readonly components: readonly PeerComponent[];
}

export interface BatchNewsPort {
  /** Runs tasks one after the other. Failures are reported and made up for at the next read of the store. */
  read(what: string, task: () => Promise<void>): void;
  /** Rows of other collectors have become known. */
  onTaken(): void;
}

/** Awaited spans are looked up together, so that this takes only a small share of the time. */
const awaitedRestMs = 2000;
const awaitedRestShare = 20;

export class BatchNews {
  private readonly collector: Collector;
  private readonly port: BatchNewsPort;
  private readonly heard = new HeardJournals();
  /** News that has not been taken in yet. */
  private waiting: (BatchTidings & { readonly from: string })[] = [];
  /**
   * Batches taken in from news. They are taken in again at the next read of the store, because a replica may not have
   * had all of their rows yet.
   */
  private again: readonly PeerBatch[] = [];
  private hasGap = false;
  private looking: NodeJS.Timeout | undefined;
  private lookFromMs = 0;

  constructor(collector: Collector, port: BatchNewsPort) {
    this.collector = collector;
    this.port = port;
  }

  hear(tidings: BatchTidings, from: string): void {
    this.waiting.push({ ...tidings, from });
    // News that arrives in the meantime is then taken in together.
    if (this.waiting.length === 1) this.port.read("batches", () => this.takeWaiting());
  }

  /** Reads what news did not bring since a time, and looks again at what others stored since another. */
  async catchUp(sinceNs: bigint, nearNs: bigint, wasCutOff: boolean): Promise<void> {
    const { collector, heard } = this;
    const hadGap = wasCutOff || this.hasGap;
    this.hasGap = false;
    const stored = await readCollectorPositions(collector.store);
    if (hadGap) await noteBatchIds(collector, sinceNs);
    const unheard = await readPeerBatches(collector, sinceNs, heard.known());
    const { related, arePutOff } = await takePeerBatches(collector, [...this.again, ...unheard]);
    const news = new Set(unheard);
    this.again = arePutOff ? related : related.filter((batch) => news.has(batch));
    for (const [other, position] of stored) heard.read(other, position);
    const isNear = await takeNear(collector, nearNs);
    if (isNear || unheard.length > 0) this.taken();
  }

  close(): void {
    clearTimeout(this.looking);
  }

  private async takeWaiting(): Promise<void> {
    const news = this.waiting;
    this.waiting = [];
    const batches = news.flatMap((one) => one.batches);
    const told = news.flatMap(({ components }) => components);
    const { related } = await takePeerBatches(this.collector, batches, told);
    this.again = [...new Map([...this.again, ...related].map((batch) => [batch.groupKey, batch])).values()];
    for (const { from, after, to } of news) if (!this.heard.hear(from, after, to)) this.hasGap = true;
    if (batches.length > 0) this.taken();
  }

  private taken(): void {
    this.port.onTaken();
    if (this.looking !== undefined) return;
    const waitMs = Math.max(0, this.lookFromMs - performance.now());
    this.looking = setTimeout(() => this.port.read("awaited", () => this.lookForAwaited()), waitMs).unref();
  }

  /** A span that rows here name as their parent may have arrived at another collector. */
  private async lookForAwaited(): Promise<void> {
    this.looking = undefined;
    const startMs = performance.now();
    await takeAwaited(this.collector);
    const endMs = performance.now();
    this.lookFromMs = endMs + Math.max(awaitedRestMs, (endMs - startMs) * awaitedRestShare);
    this.port.onTaken();
  }
}
