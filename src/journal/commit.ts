// The writing half: one worker takes all waiting appends, writes them with one call, syncs once, and then resolves
// them. The next group gathers meanwhile, so groups grow with the load by themselves.
//
// A failed write or sync is the end of that file, never tried again on it: after a failed fsync the kernel
// may have dropped the pages and would report success the second time. The un-acknowledged group goes once
// more into a fresh segment; when that fails too, its appends are rejected and the next group tries again.

import { randomInt } from "node:crypto";
import { codeOf, DiskOutage, toOutage } from "#base/disk-outage.ts";
import { type OpenFile, writeWhole } from "#base/files.ts";
import { encodeGroup, type Waiting } from "./group.ts";
import { encodeSegmentHeader, segmentHeaderBytes } from "./layout.ts";
import { createSegmentRecord, indexRecord, noteNewest, type Segment } from "./segment.ts";
import { diskBytesOf, type Shelf } from "./shelf.ts";

export interface CommitLimits {
  readonly segmentBytesMax: number;
  /** The most that one write and sync takes, so that the first of a burst does not wait for the last. */
  readonly groupBytesMax: number;
  readonly budgetBytes: number;
}

const attemptsPerGroup = 2;

export class Committer {
  /** Bytes of appends that are not settled yet, including the group being written. */
  waitingBytes = 0;
  private readonly shelf: Shelf;
  private readonly limits: CommitLimits;
  private queue: Waiting[] = [];
  private current: { readonly segment: Segment; readonly file: OpenFile } | undefined;
  private nextOrdinal: number;
  private truncateBelow = 0;
  private replacedBelow = 0;
  private dropping: Promise<void> | undefined;
  private worker: Promise<void> | undefined;
  private isClosed = false;

  constructor(shelf: Shelf, limits: CommitLimits) {
    this.shelf = shelf;
    this.limits = limits;
    this.nextOrdinal = (shelf.segments.at(-1)?.ordinal ?? 0) + 1;
  }

  push(parts: readonly Uint8Array[], bytes: number): Promise<number> {
    if (this.isClosed) return Promise.reject(new DiskOutage("closed", "The journal is closed."));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.queue.push({ parts, bytes, resolve, reject });
    this.waitingBytes += bytes;
    void this.wake();
    return promise;
  }

  async truncateBefore(position: number): Promise<void> {
    this.truncateBelow = Math.max(this.truncateBelow, position);
    await this.wake();
    await this.dropping;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.wake();
    await this.dropping;
    await this.retire();
  }

  // There is one worker at a time. It starts in the next turn of the event loop, so that all appends of this turn, from
  // many sockets, share the first group.
  private wake(): Promise<void> {
    this.worker ??= new Promise((resolve) => {
      setImmediate(async () => {
        let below: number;
        do {
          if (this.queue.length > 0) await this.commit(this.takeGroup());
          below = this.truncateBelow;
          await this.replaceIfCovered(below);
          if (this.isOldestCovered) this.dropping ??= this.dropCovered();
        } while (this.queue.length > 0 || below < this.truncateBelow);
        this.worker = undefined;
        resolve();
      });
    });
    return this.worker;
  }

  private takeGroup(): Waiting[] {
    let count = 0;
    for (let bytes = 0; count < this.queue.length; count++) {
      bytes += (this.queue[count] as Waiting).bytes;
      if (bytes > this.limits.groupBytesMax && count > 0) break;
    }
    if (count === this.queue.length) {
      const all = this.queue;
      this.queue = [];
      return all;
    }
    return this.queue.splice(0, count);
  }

  private async commit(group: readonly Waiting[]): Promise<void> {
    let failure: unknown;
    let isDone = false;
    for (let attempt = 0; attempt < attemptsPerGroup && !isDone; attempt++) {
      try {
        await this.write(group);
        isDone = true;
      } catch (cause) {
        failure = cause;
        await this.abandon();
      }
    }
    for (const { bytes } of group) this.waitingBytes -= bytes;
    const { shelf } = this;
    if (isDone) {
      const first = shelf.nextPosition;
      shelf.nextPosition += group.length;
      shelf.counters.appended += group.length;
      shelf.counters.outage = null;
      group.forEach((waiting, at) => {
        waiting.resolve(first + at);
      });
      const segment = this.current?.segment;
      if (segment?.first === first) await noteNewest(shelf.files, shelf.folder, segment);
      return;
    }
    shelf.counters.rejected += group.length;
    const outage = toOutage("The journal could not be written.", failure);
    shelf.counters.outage = outage instanceof DiskOutage ? outage.kind : "disk_failed";
    for (const waiting of group) waiting.reject(outage);
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    const { shelf } = this;
    const bytes = group.reduce((sum, waiting) => sum + waiting.bytes, 0);
    const { segment, file } = await this.segmentFor(bytes);
    const { buffers } = encodeGroup(group, shelf.nextPosition, segment.salt);
    segment.diskBytes = segment.goodBytes + bytes;
    const startedMs = performance.now();
    await writeWhole(file, buffers, segment.goodBytes);
    await file.fdatasync();
    shelf.counters.lastFsyncMs = performance.now() - startedMs;
    shelf.counters.fsyncs++;
    let offset = segment.goodBytes;
    group.forEach((waiting, at) => {
      indexRecord(segment, shelf.nextPosition + at, offset);
      offset += waiting.bytes;
    });
    segment.goodBytes = offset;
  }

  private async segmentFor(bytes: number) {
    const { current } = this;
    if (current !== undefined) {
      const { goodBytes } = current.segment;
      if (goodBytes + bytes <= this.limits.segmentBytesMax || goodBytes <= segmentHeaderBytes) return current;
      await this.retire();
    }
    return await this.openSegment();
  }

  // The file name is durable before the first record: a synced file that its folder has forgotten is lost.
  private async openSegment() {
    const { files, folder, segments, nextPosition } = this.shelf;
    const name = { ordinal: this.nextOrdinal++, first: nextPosition, salt: randomInt(2 ** 32) };
    const segment = createSegmentRecord(folder, name);
    const file = await files.open(segment.path, "create_synced");
    this.current = { segment, file };
    segments.push(segment);
    await writeWhole(file, [encodeSegmentHeader(name)], 0);
    await files.syncFolder(folder);
    return this.current;
  }

  // Everything acknowledged in it is synced, so a failing close loses nothing.
  private async retire(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    await current?.file.close().catch(() => undefined);
  }

  // A file that holds nothing acknowledged is removed, so that a full disk is not littered with attempts.
  private async abandon(): Promise<void> {
    if (this.current === undefined) return;
    const { shelf } = this;
    const { segment } = this.current;
    shelf.counters.abandonedSegments++;
    await this.retire();
    if (segment.first < shelf.nextPosition) return;
    const isGone = await shelf.files.unlink(segment.path).then(
      () => true,
      () => false,
    );
    if (isGone) shelf.segments.splice(shelf.segments.indexOf(segment), 1);
  }

  private get isOldestCovered(): boolean {
    const second = this.shelf.segments[1];
    return second !== undefined && second.first <= this.truncateBelow;
  }

  // Segments are removed oldest first; one that cannot be removed keeps the later ones. The newest always stays,
  // because its name keeps the numbers growing over a restart. Removal runs beside the writing: giving back a large
  // file takes the system a while, and no record should wait for that.
  private async dropCovered(): Promise<void> {
    const { segments, files, counters } = this.shelf;
    while (this.isOldestCovered) {
      try {
        await files.unlink((segments[0] as Segment).path);
      } catch (cause) {
        if (codeOf(cause) !== "ENOENT") {
          counters.unlinkFailures++;
          break;
        }
      }
      segments.shift();
    }
    // Set without a pause after the last look, so that whatever is covered later starts a new removal.
    this.dropping = undefined;
  }

  // If everything is covered and the last segment is large, a fresh one replaces it, so that a journal that has spent
  // its budget can be emptied.
  private async replaceIfCovered(below: number): Promise<void> {
    const { shelf, limits } = this;
    const last = shelf.segments.at(-1);
    if (below <= this.replacedBelow) return;
    this.replacedBelow = below;
    if (last === undefined || this.isClosed || below < shelf.nextPosition) return;
    const isLarge = last.diskBytes * 2 > limits.segmentBytesMax || diskBytesOf(shelf) * 2 > limits.budgetBytes;
    if (!isLarge || last.first === shelf.nextPosition) return;
    await this.retire();
    try {
      await this.openSegment();
    } catch {
      await this.abandon();
    }
  }
}
