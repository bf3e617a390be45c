// Puts spans into rows, and keeps them so that any window is found without looking at the rest.
//
// Within a lane a span takes the first row that is free when it starts; spans that start together are placed
// longest first. So a child lies below its parent, spans that overlap without nesting lie beside each other, and
// no chain of parents is followed: real traces have children that outlive their parents and parents that never
// arrive. Spans of one row never overlap, so a row sorted by start is sorted by end too.

import { firstPlace } from "#base/first-place.ts";
import { FreeRows } from "./free-rows.ts";
import type { TimelineSpans } from "./spans.ts";

export interface TimelineRow {
  /** A number of `TimelineLayout.lanes`. */
  readonly lane: number;
  readonly depth: number;
  /** Places of the row's spans: from (included) to (excluded). */
  readonly from: number;
  readonly to: number;
}

export interface TimelineLane {
  readonly text: string;
  /** How many rows it has. */
  readonly depth: number;
  readonly spans: number;
  readonly hasGpu: boolean;
}

export interface TimelineLayout {
  readonly spans: TimelineSpans;
  /** By place, that is by lane, depth and start: the span, and what a window looks at for each. */
  readonly order: Uint32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly gpu: Float64Array;
  readonly name: Uint32Array;
  readonly flags: Uint8Array;
  readonly rows: readonly TimelineRow[];
  /** The lane that began first comes first. */
  readonly lanes: readonly TimelineLane[];
  /** By code in `spans.lanes`: its number in `lanes`. */
  readonly laneOfCode: Uint32Array;
  readonly from: number;
  readonly to: number;
}

/** Deeper rows than this are drawn into the last one. */
export const depthMax = 4096;

/** What a layout takes beside its spans. */
export const layoutBytesPerSpan: number = 4 + 3 * 8 + 4 + 1;

const pauseSpans = 65_536;

/** With pauses: there may be millions of spans. */
export function* layOut(spans: TimelineSpans): Generator<void, TimelineLayout> {
  const byStart = yield* spans.byStart();
  const depths = new Uint16Array(spans.count);
  yield* placeInRows(spans, byStart, depths);
  const stats = toStats(spans, depths);
  yield;
  const lanes = stats.lanes.toSorted((a, b) => a.from - b.from || (a.text < b.text ? -1 : 1));
  const laneOfCode = new Uint32Array(lanes.length);
  for (const [number, { code }] of lanes.entries()) laneOfCode[code] = number;
  return {
    spans,
    ...(yield* toRows(spans, byStart, depths, lanes, laneOfCode)),
    lanes,
    laneOfCode,
    from: spans.count === 0 ? 0 : stats.from,
    to: spans.count === 0 ? 0 : stats.to,
  };
}

/** Spans of a row do not overlap, so the first one that ends after a time is found by halving. */
export function firstEndingAfter(end: Float64Array, row: TimelineRow, time: number): number {
  return firstPlace(row.from, row.to, (place) => (end[place] as number) < time);
}

function* placeInRows(
  { start, end, lane }: TimelineSpans,
  byStart: Uint32Array,
  depths: Uint16Array,
): Generator<void, void> {
  let current = -1;
  let rows = new FreeRows(depthMax);
  let passed = 0;
  for (const span of byStart) {
    if (++passed % pauseSpans === 0) yield;
    if (lane[span] !== current) {
      current = lane[span] as number;
      rows = new FreeRows(depthMax);
    }
    const begins = start[span] as number;
    // What ended before this span frees the rows below it too; they are reused in order.
    depths[span] = rows.take(begins, Math.max(end[span] as number, begins));
  }
}

interface LaneStats {
  readonly code: number;
  readonly text: string;
  depth: number;
  spans: number;
  hasGpu: boolean;
  from: number;
}

function toStats(spans: TimelineSpans, depths: Uint16Array): { lanes: LaneStats[]; from: number; to: number } {
  const { count, lane, start, end, gpu } = spans;
  const lanes = spans.lanes.texts.map(
    (text, code): LaneStats => ({ code, text, depth: 0, spans: 0, hasGpu: false, from: Number.POSITIVE_INFINITY }),
  );
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const stat = lanes[lane[i] as number] as LaneStats;
    stat.depth = Math.max(stat.depth, (depths[i] as number) + 1);
    stat.spans++;
    if ((gpu[i] as number) >= 0) stat.hasGpu = true;
    stat.from = Math.min(stat.from, start[i] as number);
    from = Math.min(from, start[i] as number);
    to = Math.max(to, end[i] as number);
  }
  return { lanes, from, to };
}

function* toRows(
  spans: TimelineSpans,
  byStart: Uint32Array,
  depths: Uint16Array,
  lanes: readonly TimelineLane[],
  laneOfCode: Uint32Array,
): Generator<void, Pick<TimelineLayout, "order" | "start" | "end" | "gpu" | "name" | "flags" | "rows">> {
  const { count, lane } = spans;
  const firstRow = new Uint32Array(lanes.length + 1);
  for (let i = 0; i < lanes.length; i++) firstRow[i + 1] = (firstRow[i] as number) + (lanes[i]?.depth ?? 0);
  const rowCount = firstRow[lanes.length] as number;
  const rowOf = new Uint32Array(count);
  const sizes = new Uint32Array(rowCount + 1);
  for (let i = 0; i < count; i++) {
    const row = (firstRow[laneOfCode[lane[i] as number] as number] as number) + (depths[i] as number);
    rowOf[i] = row;
    sizes[row + 1] = (sizes[row + 1] as number) + 1;
  }
  for (let row = 0; row < rowCount; row++) sizes[row + 1] = (sizes[row + 1] as number) + (sizes[row] as number);
  const rows: TimelineRow[] = [];
  for (let number = 0; number < lanes.length; number++)
    for (let depth = 0; depth < (lanes[number]?.depth ?? 0); depth++) {
      const row = (firstRow[number] as number) + depth;
      rows.push({ lane: number, depth, from: sizes[row] as number, to: sizes[row + 1] as number });
    }
  const next = sizes.slice();
  const columns = {
    order: new Uint32Array(count),
    start: new Float64Array(count),
    end: new Float64Array(count),
    gpu: new Float64Array(count),
    name: new Uint32Array(count),
    flags: new Uint8Array(count),
  };
  let passed = 0;
  for (const span of byStart) {
    if (passed++ % pauseSpans === 0) yield;
    const row = rowOf[span] as number;
    const place = next[row] as number;
    next[row] = place + 1;
    columns.order[place] = span;
    columns.start[place] = spans.start[span] as number;
    columns.end[place] = spans.end[span] as number;
    columns.gpu[place] = spans.gpu[span] as number;
    columns.name[place] = spans.name[span] as number;
    columns.flags[place] = spans.flags[span] as number;
  }
  return { ...columns, rows };
}
