// Puts spans into rows, and keeps them so that any window is found without looking at the rest.
//
// Within a lane a span takes the first row that is free when it starts; spans that start together are placed
// longest first. So a child lies below its parent, spans that overlap without nesting lie beside each other, and
// no chain of parents is followed: real traces have children that outlive their parents and parents that never
// arrive. Spans of one row never overlap, so a row sorted by start is sorted by end too.

import type { TimelineSpans } from "#model/timeline.ts";

export interface TimelineRow {
  readonly lane: number;
  readonly depth: number;
  /** Places in `order` of the row's spans: from (included) to (excluded). */
  readonly from: number;
  readonly to: number;
}

export interface TimelineLayout {
  readonly spans: TimelineSpans;
  /** Spans by lane, depth, start. */
  readonly order: Uint32Array;
  readonly rows: readonly TimelineRow[];
  /** By lane: how many rows it has, its spans, and whether any has GPU time. */
  readonly lanes: readonly { readonly depth: number; readonly spans: number; readonly hasGpu: boolean }[];
  readonly from: number;
  readonly to: number;
}

/** Deeper rows than this are drawn into the last one. */
const depthMax = 4096;

export function layOut(spans: TimelineSpans): TimelineLayout {
  const { count, start, end, lane } = spans;
  const byStart = new Uint32Array(count);
  for (let i = 0; i < count; i++) byStart[i] = i;
  byStart.sort(
    (a, b) =>
      (lane[a] as number) - (lane[b] as number) ||
      (start[a] as number) - (start[b] as number) ||
      (end[b] as number) - (end[a] as number) ||
      a - b,
  );
  const depths = new Uint16Array(count);
  placeInRows(spans, byStart, depths);
  return toLayout(spans, byStart, depths);
}

function placeInRows({ start, end, lane }: TimelineSpans, byStart: Uint32Array, depths: Uint16Array): void {
  let current = -1;
  let freeAt: number[] = [];
  for (const span of byStart) {
    if (lane[span] !== current) {
      current = lane[span] as number;
      freeAt = [];
    }
    const begins = start[span] as number;
    let depth = 0;
    while (depth < freeAt.length && (freeAt[depth] as number) > begins && depth < depthMax) depth++;
    // A span without length still takes its place, or a thousand of them would lie on one point.
    freeAt[depth] = Math.max(end[span] as number, begins);
    // What ended before this span frees the rows below it too; they are reused in order.
    depths[span] = depth;
  }
}

function toLayout(spans: TimelineSpans, byStart: Uint32Array, depths: Uint16Array): TimelineLayout {
  const { count, lane, start, end, gpu } = spans;
  const stats = spans.lanes.map(() => ({ depth: 0, spans: 0, hasGpu: false }));
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const stat = stats[lane[i] as number] as (typeof stats)[number];
    stat.depth = Math.max(stat.depth, (depths[i] as number) + 1);
    stat.spans++;
    if ((gpu[i] as number) >= 0) stat.hasGpu = true;
    from = Math.min(from, start[i] as number);
    to = Math.max(to, end[i] as number);
  }
  const firstRow = new Uint32Array(stats.length + 1);
  for (let i = 0; i < stats.length; i++) firstRow[i + 1] = (firstRow[i] as number) + (stats[i]?.depth ?? 0);
  const rowCount = firstRow[stats.length] as number;
  const sizes = new Uint32Array(rowCount + 1);
  const rowOf = (span: number): number => (firstRow[lane[span] as number] as number) + (depths[span] as number);
  for (let i = 0; i < count; i++) sizes[rowOf(i) + 1] = (sizes[rowOf(i) + 1] as number) + 1;
  for (let row = 0; row < rowCount; row++) sizes[row + 1] = (sizes[row + 1] as number) + (sizes[row] as number);
  const next = sizes.slice();
  const order = new Uint32Array(count);
  for (const span of byStart) {
    const row = rowOf(span);
    order[next[row] as number] = span;
    next[row] = (next[row] as number) + 1;
  }
  const rows: TimelineRow[] = [];
  for (let laneAt = 0; laneAt < stats.length; laneAt++)
    for (let depth = 0; depth < (stats[laneAt]?.depth ?? 0); depth++) {
      const row = (firstRow[laneAt] as number) + depth;
      rows.push({ lane: laneAt, depth, from: sizes[row] as number, to: sizes[row + 1] as number });
    }
  return { spans, order, rows, lanes: stats, from: count === 0 ? 0 : from, to: count === 0 ? 0 : to };
}
