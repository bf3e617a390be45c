// The marks of a run for the timeline: those of one lane and name lie together, sorted by time, so that a window only
// looks at its own, and those of one pixel are neighbours.

import { firstPlace } from "#base/first-place.ts";
import { toOffsets } from "#base/int64.ts";
import { Interner } from "#base/interner.ts";
import { sortIndexInSteps } from "#base/sort-index.ts";
import type { MarkBlock } from "#store/reader/timeline.ts";
import type { TimelineLayout } from "./layout.ts";
import { grown, type TimelineSpans } from "./spans.ts";

const bytesPerMark = 8 + 4 + 4;

export class TimelineMarks {
  count = 0;
  baseNs = 0n;
  /** Nanoseconds after `baseNs`. */
  at = new Float64Array(0);
  name = new Uint32Array(0);
  /** The span that a mark hangs on, by its number among the ids. */
  span = new Uint32Array(0);
  readonly names = new Interner();

  get bytes(): number {
    return this.at.length * bytesPerMark;
  }

  reserve(rows: number): void {
    this.growTo(this.count + rows);
  }

  append(block: MarkBlock, spans: TimelineSpans): void {
    const at = this.count;
    if (at + block.rows > this.at.length) this.growTo(Math.max(at + block.rows, at * 2));
    if (at === 0) this.baseNs = block.tsNs[0] as bigint;
    toOffsets(block.tsNs, this.baseNs, this.at, at);
    this.names.copy(block.name, this.name, at);
    spans.ids.numberAll(block.spans, this.span, at);
    this.count += block.rows;
  }

  private growTo(size: number): void {
    if (size <= this.at.length) return;
    this.at = grown(this.at, new Float64Array(size));
    this.name = grown(this.name, new Uint32Array(size));
    this.span = grown(this.span, new Uint32Array(size));
  }
}

interface MarkRow {
  readonly lane: number;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface MarkLayout {
  /** Nanoseconds after the spans' base, by row. */
  readonly at: Float64Array;
  readonly rows: readonly MarkRow[];
}

export const markLayoutBytes = 8;

const pauseMarks = 65_536;

/** A mark whose span has not arrived is shown on the first lane. With pauses: there may be millions. */
export function* layOutMarks(marks: TimelineMarks, layout: TimelineLayout): Generator<void, MarkLayout> {
  const { spans, laneOfCode } = layout;
  const { count } = marks;
  const nameCount = Math.max(1, marks.names.texts.length);
  const rowOf = new Uint32Array(count);
  // Row 0 of each name is for marks that have no lane.
  const sizes = new Uint32Array((laneOfCode.length + 1) * nameCount + 1);
  for (let i = 0; i < count; i++) {
    if (i % pauseMarks === pauseMarks - 1) yield;
    const code = spans.laneOfId(marks.span[i] as number);
    const lane = code < 0 ? 0 : (laneOfCode[code] as number) + 1;
    const row = lane * nameCount + (marks.name[i] as number);
    rowOf[i] = row;
    sizes[row + 1] = (sizes[row + 1] as number) + 1;
  }
  for (let row = 0; row + 1 < sizes.length; row++) sizes[row + 1] = (sizes[row + 1] as number) + (sizes[row] as number);
  const order = new Uint32Array(count);
  const next = sizes.slice();
  for (let i = 0; i < count; i++) {
    if (i % pauseMarks === pauseMarks - 1) yield;
    const row = rowOf[i] as number;
    order[next[row] as number] = i;
    next[row] = (next[row] as number) + 1;
  }
  const compare = (a: number, b: number): number => (marks.at[a] as number) - (marks.at[b] as number);
  const rows: MarkRow[] = [];
  for (let row = 0; row + 1 < sizes.length; row++) {
    const from = sizes[row] as number;
    const to = sizes[row + 1] as number;
    if (from === to) continue;
    yield* sortIndexInSteps(order.subarray(from, to), compare);
    const lane = Math.max(0, Math.floor(row / nameCount) - 1);
    rows.push({ lane, name: marks.names.texts[row % nameCount] as string, from, to });
  }
  yield;
  const shift = Number(marks.baseNs - spans.baseNs);
  const at = new Float64Array(count);
  for (let i = 0; i < count; i++) at[i] = (marks.at[order[i] as number] as number) + shift;
  return { at, rows };
}

export interface MarkTick {
  readonly lane: number;
  readonly name: string;
  /** Of the first mark, nanoseconds after the spans' base. */
  readonly at: number;
  readonly merged: number;
}

const ticksMax = 20_000;

/** Marks of a window by time, those of one lane, name and pixel merged. */
export function toTicks(
  layout: MarkLayout,
  window: { readonly from: number; readonly to: number; readonly widthPx: number },
): MarkTick[] {
  const from = Math.floor(window.from);
  const length = Math.floor(window.to) - from;
  const ticks: MarkTick[] = [];
  if (!(length > 0)) return ticks;
  for (const row of layout.rows) {
    let pixel = -1;
    let began = row.from;
    let at = firstPlace(row.from, row.to, (place) => (layout.at[place] as number) < from);
    for (; at < row.to; at++) {
      const offset = (layout.at[at] as number) - from;
      if (offset >= length) break;
      const here = toPixel(offset, window.widthPx, length);
      if (here === pixel) continue;
      if (pixel >= 0)
        ticks.push({ lane: row.lane, name: row.name, at: layout.at[began] as number, merged: at - began });
      [pixel, began] = [here, at];
    }
    if (pixel >= 0) ticks.push({ lane: row.lane, name: row.name, at: layout.at[began] as number, merged: at - began });
  }
  return ticks.sort((a, b) => a.at - b.at).slice(0, ticksMax);
}

/** 2 ** 26: the product of a time and a width may have more digits than a number holds, so it is checked in two parts. */
const part = 67108864;

/** floor(offset * width / length), exactly: offset < length, and both are whole numbers below 2 ** 52. */
function toPixel(offset: number, width: number, length: number): number {
  const pixel = Math.floor((offset * width) / length);
  const over =
    (Math.floor(offset / part) * width - Math.floor(length / part) * pixel) * part +
    ((offset % part) * width - (length % part) * pixel);
  return over < 0 ? pixel - 1 : over >= length ? pixel + 1 : pixel;
}
