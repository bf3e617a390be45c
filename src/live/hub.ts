// Publishes applied batches to subscribers. Entries are published after their journal commit and kept for a while, so
// that a subscriber who queried first continues exactly where the answer ended. Each subscriber has a bounded backlog:
// one that does not keep up learns which range it missed, and nobody waits for it.

import { TextFilter } from "#base/text-filter.ts";
import type { Batch } from "#model/batch.ts";
import { formatPosition, parsePositions } from "#model/positions.ts";
import { countRows, headEvents, type LiveData, type LiveEntry, rowEvents } from "./events.ts";

export interface LiveMessage {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
}

export interface LiveInterest {
  readonly workspace: string;
  /** Runs whose rows are wanted. The heads of all runs are always sent. */
  readonly runs: readonly string[];
  /** `<collector>-<position>` to continue from, or a list of these; null for new events only. */
  readonly after: string | null;
}

export interface LiveSink {
  send(messages: readonly LiveMessage[]): void;
  /** Bytes that this subscriber has not read yet. */
  backlogBytes(): number;
}

export interface Subscription {
  close(): void;
}

interface KeptEntry extends LiveEntry {
  readonly heads: readonly LiveData[];
  /** On the clock of `performance.now()`. */
  readonly publishedMs: number;
}

interface Subscriber {
  readonly interest: LiveInterest;
  readonly sink: LiveSink;
  /** The first position of a range that was left out because the backlog was full. */
  skippedFrom: number | null;
}

const keptBytesUsual = 48 * 1024 * 1024;
/** This share is kept whatever its age: with few rows, even a subscriber that was away for long misses none. */
const keptShareMin = 1 / 4;
/** Whatever exceeds it is kept only this long: enough to query and then subscribe, or to reconnect. */
const keptMs = 10_000;
/** The columns of a table take this much even for one row, so many small entries add up. */
const partBytes = 4096;
export const backlogBytesMax: number = 4 * 1024 * 1024;
/** How often a subscriber that was left out is looked at: without this, nothing would tell it until the next entry. */
export const lookMs = 500;
/** Clients send a batch every few seconds. A mark whose step spans more batches than this gets no step number. */
const spanBatchesMax = 32;

export class LiveHub {
  readonly collector: string;
  private readonly kept: KeptEntry[] = [];
  private keptBytes = 0;
  private readonly subscribers = new Set<Subscriber>();
  private looking: NodeJS.Timeout | undefined;
  private position: number;
  private readonly runs: KnownRuns;
  private readonly keptBytesMax: number;

  /** `isFresh`: there is no run yet. */
  constructor(collector: string, position: number, isFresh = true, keptBytesMax: number = keptBytesUsual) {
    this.keptBytesMax = keptBytesMax;
    this.collector = collector;
    this.position = position;
    this.runs = new KnownRuns(isFresh);
  }

  get subscriberCount(): number {
    return this.subscribers.size;
  }

  /** Whether a subscriber wants the rows of a run. Called for every arriving piece, mostly without subscribers. */
  isFollowed(workspace: string, toRun: () => string | undefined): boolean {
    if (this.subscribers.size === 0) return false;
    const run = toRun();
    if (run === undefined) return false;
    for (const { interest } of this.subscribers)
      if (interest.workspace === workspace && interest.runs.includes(run)) return true;
    return false;
  }

  get keptFrom(): number {
    return this.kept[0]?.batch.first ?? this.position + 1;
  }

  idOf(position: number): string {
    return formatPosition(this.collector, position);
  }

  publish(entry: LiveEntry): void {
    this.position = entry.position;
    const heads = headEvents(entry, (run) => this.runs.note(`${entry.workspace}/${run}`));
    for (const head of heads) if (head.name === "gone") this.runs.forget(`${entry.workspace}/${head.data.run}`);
    const kept = { ...entry, heads, publishedMs: performance.now() };
    this.keep(kept);
    for (const subscriber of this.subscribers) this.deliver(subscriber, kept);
  }

  /** `<workspace>/<run>` of a run that is stored. */
  know(name: string): void {
    this.runs.know(name);
  }

  /** Every stored run has been reported. */
  warm(): void {
    this.runs.warm();
  }

  /** Nothing has arrived for a while, so a late subscriber has little to catch up with. */
  rest(): void {
    this.dropOldest(this.keptBytesMax * keptShareMin);
  }

  /** Publishes something other than a stored row, such as the delivery of a command; not kept for later subscribers. */
  announce(workspace: string, name: string, data: unknown): void {
    const message = { id: this.idOf(this.position), name, data };
    for (const { interest, sink } of this.subscribers) if (interest.workspace === workspace) sink.send([message]);
  }

  subscribe(interest: LiveInterest, sink: LiveSink): Subscription {
    const subscriber: Subscriber = { interest, sink, skippedFrom: null };
    this.resume(subscriber);
    this.subscribers.add(subscriber);
    return { close: () => this.subscribers.delete(subscriber) };
  }

  private resume(subscriber: Subscriber): void {
    const { interest, sink } = subscriber;
    sink.send([
      { id: interest.after ?? this.idOf(this.position), name: "hello", data: { as_of: this.idOf(this.position) } },
    ]);
    if (interest.after === null) return;
    const from = this.positionOf(interest.after);
    const oldest = this.keptFrom;
    if (from === null || from + 1 < oldest) {
      const skipped = { from: interest.after, to: this.idOf(oldest - 1) };
      const reason = from === null ? "These events are of another collector." : "These events are no longer kept.";
      if (from === null || from < this.position)
        sink.send([{ id: skipped.to, name: "skipped", data: { ...skipped, reason } }]);
    }
    for (const entry of this.kept) if (entry.position > (from ?? -1)) this.deliver(subscriber, entry);
  }

  /** The last batches with spans before an entry, newest first: they hold the spans of its marks. */
  private spansBefore({ position, workspace }: LiveEntry): Batch[] {
    const found: Batch[] = [];
    for (let at = this.kept.length - 1; at >= 0 && found.length < spanBatchesMax; at--) {
      const kept = this.kept[at] as KeptEntry;
      const isBefore = kept.position < position && kept.workspace === workspace;
      if (isBefore && kept.batch.parts.some(({ table }) => table === "spans")) found.push(kept.batch);
    }
    return found;
  }

  private positionOf(id: string): number | null {
    return parsePositions(id).get(this.collector) ?? null;
  }

  private keep(entry: KeptEntry): void {
    this.kept.push(entry);
    this.keptBytes += sizeOf(entry);
    // An eighth at a time: moving thousands of small entries up for every new one would be expensive.
    if (this.keptBytes > this.keptBytesMax) this.dropOldest((this.keptBytesMax * 7) / 8);
    else if (this.keptBytes > this.keptBytesMax * (keptShareMin + 1 / 8))
      this.dropOldest(this.keptBytesMax * keptShareMin, entry.publishedMs - keptMs);
  }

  /** Drops only what was published before that time. */
  private dropOldest(bytesMax: number, beforeMs = Number.POSITIVE_INFINITY): void {
    let drop = 0;
    while (this.keptBytes > bytesMax && drop < this.kept.length - 1) {
      const oldest = this.kept[drop] as KeptEntry;
      if (oldest.publishedMs >= beforeMs) break;
      this.keptBytes -= sizeOf(oldest);
      drop++;
    }
    this.kept.splice(0, drop);
  }

  private deliver(subscriber: Subscriber, entry: KeptEntry): void {
    const { interest, sink } = subscriber;
    if (interest.workspace !== entry.workspace) return;
    if (sink.backlogBytes() > backlogBytesMax) {
      subscriber.skippedFrom ??= entry.batch.first;
      this.looking ??= setInterval(() => this.look(), lookMs).unref();
      return;
    }
    const id = this.idOf(entry.position);
    const messages = this.takeSkipped(subscriber, entry.batch.first - 1);
    for (const { name, data } of entry.heads) {
      const run = "id" in data ? data.id : data.run;
      if (interest.runs.length === 0 || interest.runs.includes(run)) messages.push({ id, name, data });
    }
    for (const [run, rows] of countRows(entry)) {
      if (interest.runs.length > 0 && !interest.runs.includes(run)) continue;
      messages.push({ id, name: "changed", data: { run, rows } });
      if (interest.runs.includes(run))
        for (const { name, data } of rowEvents(entry, run, this.collector, () => this.spansBefore(entry)))
          messages.push({ id, name, data });
    }
    if (messages.length > 0) sink.send(messages);
  }

  /** Tells those who have caught up what they missed. */
  private look(): void {
    const left = [...this.subscribers].filter(({ skippedFrom }) => skippedFrom !== null);
    for (const subscriber of left)
      if (subscriber.sink.backlogBytes() <= backlogBytesMax)
        subscriber.sink.send(this.takeSkipped(subscriber, this.position));
    if (left.some(({ skippedFrom }) => skippedFrom !== null)) return;
    clearInterval(this.looking);
    this.looking = undefined;
  }

  private takeSkipped(subscriber: Subscriber, to: number): LiveMessage[] {
    const { skippedFrom } = subscriber;
    if (skippedFrom === null) return [];
    subscriber.skippedFrom = null;
    const data = { from: this.idOf(skippedFrom - 1), to: this.idOf(to), reason: didNotKeepUp };
    return [{ id: data.to, name: "skipped", data }];
  }
}

export const didNotKeepUp = "This subscriber did not keep up.";

function sizeOf({ batch }: LiveEntry): number {
  return batch.bytes + 256 + batch.parts.length * partBytes;
}

// Which runs exist, so that an event can say that it is the first of its run.

const goneMax = 10_000;

class KnownRuns {
  private readonly filter = new TextFilter();
  /** Deleted runs: their next event is the first again. */
  private readonly gone = new Set<string>();
  private isWarm: boolean;

  constructor(isFresh: boolean) {
    this.isWarm = isFresh;
  }

  know(name: string): void {
    this.filter.add(name);
  }

  warm(): void {
    this.isWarm = true;
  }

  /** Whether the run was known. It is from now on. */
  note(name: string): boolean {
    const isKnown = !this.gone.delete(name) && (!this.isWarm || this.filter.has(name));
    this.filter.add(name);
    return isKnown;
  }

  forget(name: string): void {
    if (this.gone.size >= goneMax) this.gone.clear();
    this.gone.add(name);
  }
}
