// What happened since the last flush: closed spans, marks, snapshots; and when to write it.
// Everything here runs inside the user's calls, so it is synchronous, bounded and never throws.
// A loop that never yields still gets its batches written: every record has a time anyway, and the
// first one after the flush time writes the batch.

import { ByteWriter } from "#base/byte-writer.ts";
import { formatValue, quote } from "#emit/json-text.ts";
import {
  batchEnd,
  batchMarks,
  batchSnapshots,
  encodeSpan,
  encodeSpanOrigin,
  formatBatchEnd,
  formatBatchHead,
  type MarkKind,
  type OpenSpanText,
} from "#wire/cirron/encode.ts";
import { type Attributes, formatAttributes, joinAttributes, noAttributes } from "./attributes.ts";
import { followWallClock, formatNs, nowNs, toNanos, toSeconds } from "./clock.ts";
import { createBatchId, markIds, spanIds, threadIdentity } from "./ids.ts";
import { MarkRows, typeBool, typeFloat, typeInt, typeString } from "./mark-rows.ts";
import { currentSpan, type MarkValue, Span, type SpanOptions, type SpanOwner } from "./span.ts";
import { cutUtf8 } from "./text.ts";

const marksMax = 16_384;
const spansMax = 8192;
const openSpansMax = 65_536;
const snapshotsMax = 4096;
/** How many open spans a batch lists. */
const toldOpenMax = 64;
const listedMarksMax = 65_536;
const markTextBytesMax = 256;
const sampleMask = 1023;
const commaByte = 0x2c;
const outBytesKeptMax = 8 * 1024 * 1024;

/** Takes sealed batches. Never throws; what it cannot keep it counts. */
export interface BatchSink {
  /** `json` is only lent: it is overwritten after the call. */
  write(createdNs: string, batchId: string, json: Uint8Array): void;
}

export interface RecorderCounts {
  readonly marks: number;
  readonly spans: number;
  readonly snapshots: number;
  readonly batches: number;
  /** Records that found no room before profile() was called, or whose batch could not be made. */
  readonly dropped: number;
  /** What the SDK itself cost this program so far, in milliseconds (calls are sampled, flushes measured). */
  readonly overheadMs: number;
}

export class Recorder implements SpanOwner {
  isEnabled = true;
  session: Span | null = null;
  sdkVersion = "";
  flushIntervalNs = 1e9;
  private sink: BatchSink | null = null;
  private origin = encodeSpanOrigin(threadIdentity, process.pid, 0);
  private readonly marks = new MarkRows(marksMax);
  private out = new ByteWriter(65_536);
  private spans: Span[] = [];
  private snapshots: string[] = [];
  private flushAtNs = Number.POSITIVE_INFINITY;
  private firstOpen: Span | null = null;
  private lastOpen: Span | null = null;
  private openCount = 0;
  private rank = 0;
  private markTotal = 0;
  private spanTotal = 0;
  private snapshotTotal = 0;
  private batchTotal = 0;
  private dropTotal = 0;
  private flushNs = 0;
  private sampledNs = 0;
  private samples = 0;

  /** Until a sink is set, records wait in bounded buffers and the oldest are dropped. */
  setSink(sink: BatchSink | null, rank: number): void {
    this.sink = sink;
    this.rank = rank;
    this.origin = encodeSpanOrigin(threadIdentity, process.pid, rank);
    this.flushAtNs = sink === null ? Number.POSITIVE_INFINITY : nowNs() + this.flushIntervalNs;
  }

  get counts(): RecorderCounts {
    const calls = this.markTotal + this.spanTotal;
    const callsNs = this.samples === 0 ? 0 : (this.sampledNs / this.samples) * calls;
    return {
      marks: this.markTotal,
      spans: this.spanTotal,
      snapshots: this.snapshotTotal,
      batches: this.batchTotal,
      dropped: this.dropTotal,
      overheadMs: (this.flushNs + callsNs) / 1e6,
    };
  }

  open(name: string, parent: Span | null, options?: SpanOptions): Span {
    const span = new Span(this, name, parent, nowNs(), options);
    span.before = this.lastOpen;
    if (this.lastOpen === null) this.firstOpen = span;
    else this.lastOpen.after = span;
    this.lastOpen = span;
    // A program that never ends its spans must not grow forever: the oldest is forgotten, not closed.
    if (++this.openCount > openSpansMax && this.firstOpen !== null) this.unlink(this.firstOpen);
    return span;
  }

  close(span: Span): void {
    if (!span.isOpen) return;
    const now = nowNs();
    span.endNs = now;
    span.isOpen = false;
    this.unlink(span);
    if (!this.isEnabled) return;
    this.spanTotal++;
    this.spans.push(span);
    if (now >= this.flushAtNs || this.spans.length >= spansMax) this.flush();
  }

  /** Forgets an open span: the iterator that opened it found no item for it. */
  discard(span: Span): void {
    if (!span.isOpen) return;
    span.isOpen = false;
    this.unlink(span);
  }

  mark(span: Span | null, name: string, value: MarkValue, attrs?: Attributes, kind?: MarkKind): void {
    if (!this.isEnabled) return;
    const now = nowNs();
    const attrsJson = attrs === undefined ? noAttributes : formatAttributes(attrs);
    if (typeof value === "number") this.pushMark(span, name, typeFloat, value, null, attrsJson, now, kind);
    else this.markOther(span, name, value, attrsJson, now, kind);
    if ((this.markTotal & sampleMask) === 0) {
      this.sampledNs += nowNs() - now;
      this.samples++;
    }
    if (now >= this.flushAtNs || this.marks.count === marksMax) this.flush();
  }

  markInt(span: Span | null, name: string, value: number | bigint, attrs?: Attributes, kind?: MarkKind): void {
    if (typeof value !== "number") this.mark(span, name, value, attrs, kind);
    else if (Number.isInteger(value)) this.mark(span, name, BigInt(value), attrs, kind);
    else this.mark(span, name, value, attrs, kind);
  }

  /** `json` is an encoded snapshot record. */
  pushSnapshot(json: string): void {
    if (!this.isEnabled) return;
    this.snapshotTotal++;
    this.snapshots.push(json);
    if (this.snapshots.length >= snapshotsMax) this.flush();
  }

  /** Writes what there is as one batch. */
  flush(): void {
    const started = nowNs();
    const { spans, snapshots, marks } = this;
    if (this.sink === null) {
      this.dropOldest();
      return;
    }
    this.flushAtNs = started + this.flushIntervalNs;
    if (spans.length === 0 && snapshots.length === 0 && marks.count === 0) return;
    this.spans = [];
    this.snapshots = [];
    const records = spans.length + snapshots.length + marks.count;
    try {
      const head = { sdkVersion: this.sdkVersion, batchId: createBatchId(), createdNs: formatNs(started) };
      const { out } = this;
      out.clear();
      out.text(formatBatchHead(head));
      this.encodeSpans(spans);
      out.raw(batchMarks);
      marks.drain(out);
      out.raw(batchSnapshots);
      out.text(snapshots.join(","));
      this.encodeEnd();
      this.sink.write(head.createdNs, head.batchId, out.view());
      // One huge batch must not hold its memory forever.
      if (out.bytes.length > outBytesKeptMax) this.out = new ByteWriter(65_536);
      this.batchTotal++;
      followWallClock();
    } catch {
      this.dropTotal += records;
      marks.clear();
    }
    this.flushNs += nowNs() - started;
  }

  /** Closes whatever is still open, newest first, so that children end before their parents. */
  closeAll(): void {
    for (let span = this.lastOpen; span !== null; ) {
      const before: Span | null = span.before;
      if (span !== this.session) {
        span.attrsJson = joinAttributes(span.attrsJson, '{"cirron.unfinished":true}');
        this.close(span);
      }
      span = before;
    }
  }

  private markOther(
    span: Span | null,
    name: string,
    value: Exclude<MarkValue, number>,
    attrs: string,
    now: number,
    kind: MarkKind | undefined,
  ): void {
    if (typeof value === "boolean") this.pushMark(span, name, typeBool, value ? 1 : 0, null, attrs, now, kind);
    else if (typeof value === "bigint") this.pushMark(span, name, typeInt, 0, value.toString(), attrs, now, kind);
    else {
      const plain = typeof value === "string" ? value : formatValue(value);
      const text = JSON.stringify(cutUtf8(plain, markTextBytesMax));
      this.pushMark(span, name, typeString, 0, text, attrs, now, kind);
    }
  }

  private pushMark(
    span: Span | null,
    name: string,
    type: number,
    value: number,
    text: string | null,
    attrs: string,
    now: number,
    kind: MarkKind | undefined,
  ): void {
    this.markTotal++;
    const target = span ?? currentSpan() ?? this.session;
    if (target === null) {
      this.marks.push(0, name, type, value, text, attrs, now, kind);
      return;
    }
    const id = this.marks.push(target.counter, name, type, value, text, attrs, now, kind);
    if (++target.markCount > listedMarksMax) return;
    const ranges = target.markRanges;
    if (ranges === null) target.markRanges = [id, id];
    else if (ranges[ranges.length - 1] === id - 1) ranges[ranges.length - 1] = id;
    else ranges.push(id, id);
  }

  private encodeSpans(spans: readonly Span[]): void {
    const { out } = this;
    for (let i = 0; i < spans.length; i++) {
      const span = spans[i] as Span;
      if (i > 0) out.byte(commaByte);
      encodeSpan(out, spanIds.prefix, markIds.prefix, this.origin, {
        counter: span.counter,
        nameJson: quote(span.name),
        parentCounter: span.parent === null ? 0 : span.parent.counter,
        index: span.index,
        startSeconds: toSeconds(span.startNs),
        startNanos: toNanos(span.startNs),
        endSeconds: toSeconds(span.endNs),
        endNanos: toNanos(span.endNs),
        gpuNs: span.gpuNs,
        memoryPeakBytes: span.memoryPeakBytes,
        attrsJson: listedAttributes(span),
        markRanges: span.markRanges,
      });
    }
  }

  /** Lists the open spans, the innermost last, so that it is known what was going on if nothing comes any more. */
  private encodeEnd(): void {
    const open: Span[] = [];
    for (let span = this.lastOpen; span !== null && open.length < toldOpenMax; span = span.before) open.unshift(span);
    if (open.length === 0) this.out.raw(batchEnd);
    else this.out.text(formatBatchEnd(open.map((span) => this.toOpenText(span))));
  }

  private toOpenText(span: Span): OpenSpanText {
    const parentId = span.parent === null ? null : span.parent.id;
    return { id: span.id, parentId, nameJson: quote(span.name), startNs: formatNs(span.startNs), rank: this.rank };
  }

  private unlink(span: Span): void {
    if (span.before === null && span.after === null && this.firstOpen !== span) return;
    if (span.before === null) this.firstOpen = span.after;
    else span.before.after = span.after;
    if (span.after === null) this.lastOpen = span.before;
    else span.after.before = span.before;
    span.before = null;
    span.after = null;
    this.openCount--;
  }

  private dropOldest(): void {
    if (this.marks.count === marksMax) {
      this.dropTotal += marksMax;
      this.marks.clear();
    }
    if (this.spans.length >= spansMax) this.dropTotal += this.spans.splice(0, spansMax / 2).length;
    if (this.snapshots.length >= snapshotsMax) this.dropTotal += this.snapshots.splice(0, snapshotsMax / 2).length;
  }
}

function listedAttributes(span: Span): string {
  const omitted = span.markCount - listedMarksMax;
  return omitted <= 0 ? span.attrsJson : joinAttributes(span.attrsJson, `{"cirron.mark_ids_omitted":${omitted}}`);
}
