// The spans of a run as the timeline keeps them: columns that grow while the run lives, the spans' order, and who is
// whose parent. An ancestor that never arrived is put in as a placeholder that spans its children, so that they still
// lie below something; placeholders stand behind the real spans and are worked out again when spans come.

import { createHash } from "node:crypto";
import { toNumbers, toOffsets } from "#base/int64.ts";
import { Interner } from "#base/interner.ts";
import { mergeSorted, sortIndexInSteps } from "#base/sort-index.ts";
import { blockFlags, noIndex, type OddIds, type SpanBlock, timelineFlags } from "#store/reader/timeline.ts";
import { IdTable } from "./id-table.ts";

export { noIndex };

const noParent = -1;
const noSpan = -1;
const keptFlags = timelineFlags.node | timelineFlags.error;

const pauseSpans = 65_536;
const pauseIds = 8192;

/** What a span takes in all columns; the ids count apart. */
const bytesPerSpan = 3 * 8 + 8 + 4 * 4 + 1 + 4;

export class TimelineSpans {
  /** Spans that are stored. */
  stored = 0;
  /** With placeholders. */
  count = 0;
  baseNs = 0n;
  /** Nanoseconds after `baseNs`, exact up to 104 days. */
  start = new Float64Array(0);
  end = new Float64Array(0);
  /** GPU time in nanoseconds, -1 when there is none. */
  gpu = new Float64Array(0);
  index = new BigInt64Array(0);
  name = new Uint32Array(0);
  lane = new Uint32Array(0);
  flags = new Uint8Array(0);
  readonly names = new Interner();
  readonly lanes = new Interner();
  readonly ids = new IdTable();
  /** Numbers in `ids`: the span's own, and its parent's or `noParent`. */
  private id = new Uint32Array(0);
  private parent = new Int32Array(0);
  /** By number in `ids`: the span of that id, `noSpan` when it has not arrived. */
  private spanOf = new Int32Array(0);
  private readonly oddIds = new Map<string, string>();
  /** Stored spans by lane, start, and the longest first. */
  private sorted: Uint32Array = new Uint32Array(0);

  get bytes(): number {
    return this.start.length * bytesPerSpan + this.ids.bytes + this.spanOf.byteLength;
  }

  /** Makes room for so many more spans at once. */
  reserve(rows: number): void {
    this.dropPlaceholders();
    this.growTo(this.stored + rows);
    this.ids.reserve(this.ids.count + rows);
  }

  /** `settle` must follow before anything is read. */
  append(block: SpanBlock): void {
    this.dropPlaceholders();
    const at = this.stored;
    const { rows, flags } = block;
    if (at + rows > this.start.length) this.growTo(Math.max(at + rows, at * 2));
    if (at === 0) this.baseNs = block.startNs[0] as bigint;
    toOffsets(block.startNs, this.baseNs, this.start, at);
    toOffsets(block.endNs, this.baseNs, this.end, at);
    toNumbers(block.gpuNs, this.gpu, at);
    this.index.set(block.index, at);
    this.names.copy(block.name, this.name, at);
    this.lanes.copy(block.lane, this.lane, at);
    this.ids.numberAll(block.ids, this.id, at);
    const parents = new Uint32Array(block.parents.buffer, block.parents.byteOffset, rows * 4);
    this.ids.reserve(this.ids.count + rows);
    for (let row = 0; row < rows; row++) {
      const bits = flags[row] as number;
      this.flags[at + row] = bits & keptFlags;
      this.parent[at + row] = (bits & blockFlags.parent) === 0 ? noParent : this.ids.number(parents, row * 4);
    }
    this.noteIds(at, rows);
    this.stored += rows;
    this.count = this.stored;
  }

  /** With pauses among many. */
  *addOddIds(odd: OddIds): Generator<void, void> {
    let added = 0;
    for (const { id, text } of odd) {
      if (++added % pauseIds === 0) yield;
      this.oddIds.set(id, text);
    }
  }

  /** Sorts what was appended since the last time, and says whose parent has not arrived. With pauses among many. */
  *settle(): Generator<void, void> {
    this.rebase();
    yield;
    const fresh = yield* this.sortFrom(this.sorted.length);
    this.sorted = yield* mergeSorted(this.sorted, fresh, this.compare);
    yield* this.placeOrphans();
  }

  /** Spans lie by time mostly, so that each lane is nearly in order once it stands apart. */
  private *sortFrom(first: number): Generator<void, Uint32Array> {
    const { lane, stored } = this;
    const ends = new Uint32Array(this.lanes.texts.length + 1);
    for (let span = first; span < stored; span++) {
      const next = (lane[span] as number) + 1;
      ends[next] = (ends[next] as number) + 1;
    }
    for (let code = 1; code < ends.length; code++) ends[code] = (ends[code] as number) + (ends[code - 1] as number);
    const sorted = new Uint32Array(stored - first);
    const next = ends.slice();
    for (let span = first; span < stored; span++) {
      const code = lane[span] as number;
      sorted[next[code] as number] = span;
      next[code] = (next[code] as number) + 1;
    }
    yield;
    for (let code = 0; code + 1 < ends.length; code++)
      yield* sortIndexInSteps(sorted.subarray(ends[code], ends[code + 1]), this.compare);
    return sorted;
  }

  /** All spans and placeholders by lane, start, and the longest first. */
  *byStart(): Generator<void, Uint32Array> {
    const placeholders = new Uint32Array(this.count - this.stored);
    for (let i = 0; i < placeholders.length; i++) placeholders[i] = this.stored + i;
    yield* sortIndexInSteps(placeholders, this.compare);
    return yield* mergeSorted(placeholders, this.sorted, this.compare);
  }

  idText(span: number): string {
    const text = this.textOf(this.id[span] as number);
    const isPlaceholder = ((this.flags[span] as number) & timelineFlags.placeholder) !== 0;
    return isPlaceholder ? createHash("md5").update(`placeholder${text}`).digest("hex") : text;
  }

  /** The lane of a span that is known by its number in `ids`, -1 when it has not arrived. */
  laneOfId(number: number): number {
    const span = this.spanOf[number] ?? noSpan;
    return span === noSpan ? -1 : (this.lane[span] as number);
  }

  private textOf(id: number): string {
    const hex = this.ids.hexOf(id);
    return this.oddIds.get(hex) ?? hex;
  }

  private readonly compare = (a: number, b: number): number =>
    (this.lane[a] as number) - (this.lane[b] as number) ||
    (this.start[a] as number) - (this.start[b] as number) ||
    (this.end[b] as number) - (this.end[a] as number) ||
    // A placeholder goes above an only child.
    ((this.flags[b] as number) & timelineFlags.placeholder) - ((this.flags[a] as number) & timelineFlags.placeholder) ||
    this.ids.compare(this.id[a] as number, this.id[b] as number);

  private noteIds(at: number, rows: number): void {
    this.growSpanOf();
    const { id, spanOf } = this;
    for (let span = at; span < at + rows; span++) {
      const number = id[span] as number;
      if (spanOf[number] === noSpan) spanOf[number] = span;
    }
  }

  private growSpanOf(): void {
    if (this.ids.count <= this.spanOf.length) return;
    const grown = new Int32Array(Math.max(this.ids.count, this.start.length)).fill(noSpan);
    grown.set(this.spanOf);
    this.spanOf = grown;
  }

  /** The base is the first start, also when a span comes late that began before all others. */
  private rebase(): void {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.stored; i++) least = Math.min(least, this.start[i] as number);
    if (least === 0 || this.stored === 0) return;
    this.baseNs += BigInt(least);
    for (let i = 0; i < this.stored; i++) {
      this.start[i] = (this.start[i] as number) - least;
      this.end[i] = (this.end[i] as number) - least;
    }
  }

  private dropPlaceholders(): void {
    this.count = this.stored;
  }

  private *placeOrphans(): Generator<void, void> {
    this.growSpanOf();
    /** By the parent's number: its placeholder. */
    const placeholderOf = new Map<number, number>();
    // In their order, so that a placeholder takes its first child's lane. A placeholder may make the columns grow.
    let passed = 0;
    for (const span of this.sorted) {
      if (++passed % pauseSpans === 0) yield;
      const number = this.parent[span] as number;
      const isOrphan = number !== noParent && this.spanOf[number] === noSpan;
      const bits = (this.flags[span] as number) & ~timelineFlags.orphan;
      this.flags[span] = isOrphan ? bits | timelineFlags.orphan : bits;
      if (isOrphan) this.spanPlaceholder(placeholderOf, number, span);
    }
  }

  private spanPlaceholder(placeholderOf: Map<number, number>, number: number, child: number): void {
    let at = placeholderOf.get(number);
    if (at === undefined) {
      at = this.addPlaceholder(number, child);
      placeholderOf.set(number, at);
    }
    this.start[at] = Math.min(this.start[at] as number, this.start[child] as number);
    this.end[at] = Math.max(this.end[at] as number, this.end[child] as number);
    if (this.names.texts[this.name[child] as number] === "epoch")
      this.name[at] = this.names.intern("session (not arrived)");
  }

  private addPlaceholder(number: number, child: number): number {
    const at = this.count++;
    if (this.count > this.start.length) this.growTo(this.count + Math.ceil(this.count / 4));
    this.start[at] = this.start[child] as number;
    this.end[at] = this.end[child] as number;
    this.gpu[at] = -1;
    this.index[at] = noIndex;
    this.name[at] = this.names.intern("not arrived");
    this.lane[at] = this.lane[child] as number;
    this.flags[at] = timelineFlags.placeholder;
    this.id[at] = number;
    this.parent[at] = noParent;
    return at;
  }

  private growTo(size: number): void {
    if (size <= this.start.length) return;
    this.start = grown(this.start, new Float64Array(size));
    this.end = grown(this.end, new Float64Array(size));
    this.gpu = grown(this.gpu, new Float64Array(size));
    this.index = grown(this.index, new BigInt64Array(size));
    this.name = grown(this.name, new Uint32Array(size));
    this.lane = grown(this.lane, new Uint32Array(size));
    this.flags = grown(this.flags, new Uint8Array(size));
    this.id = grown(this.id, new Uint32Array(size));
    this.parent = grown(this.parent, new Int32Array(size));
  }
}

/** What `from` holds, in a larger array. */
export function grown<T extends { set(from: T): void }>(from: T, into: T): T {
  into.set(from);
  return into;
}
