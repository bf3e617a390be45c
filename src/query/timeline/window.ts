// The boxes of a window at a pixel resolution. What is narrower than a pixel is merged with its neighbours of the
// same row into one box that says how many it stands for and bears the name that took most of the time.

import type { TimelineLayout, TimelineRow } from "./layout.ts";

export interface TimelineBoxes {
  readonly lane: number[];
  readonly depth: number[];
  readonly name: number[];
  readonly start: number[];
  readonly end: number[];
  readonly gpu: (number | null)[];
  /** 1 for a span, more for a merged box. */
  readonly merged: number[];
  /** The span of a box that stands for one; -1 for a merged box. */
  readonly span: number[];
  readonly flags: number[];
  /** Spans in the window, counted one by one. */
  total: number;
}

export interface TimelineWindow {
  readonly from: number;
  readonly to: number;
  readonly widthPx: number;
  /** Only spans of these names; null for all. */
  readonly names: ReadonlySet<number> | null;
  readonly lane: number | null;
}

export function toBoxes(layout: TimelineLayout, window: TimelineWindow): TimelineBoxes {
  const boxes: TimelineBoxes = {
    lane: [],
    depth: [],
    name: [],
    start: [],
    end: [],
    gpu: [],
    merged: [],
    span: [],
    flags: [],
    total: 0,
  };
  for (const row of layout.rows)
    if (window.lane === null || row.lane === window.lane) new RowMerger(layout, window, row, boxes).run();
  return boxes;
}

class RowMerger {
  private readonly layout: TimelineLayout;
  private readonly window: TimelineWindow;
  private readonly row: TimelineRow;
  private readonly boxes: TimelineBoxes;
  private readonly pixel: number;
  // The merged box that is being gathered.
  private count = 0;
  private start = 0;
  private end = 0;
  private gpu = -1;
  private flags = 0;
  private first = 0;
  private readonly timeOfName = new Map<number, number>();

  constructor(layout: TimelineLayout, window: TimelineWindow, row: TimelineRow, boxes: TimelineBoxes) {
    this.layout = layout;
    this.window = window;
    this.row = row;
    this.boxes = boxes;
    this.pixel = Math.max((window.to - window.from) / window.widthPx, 0);
  }

  run(): void {
    const { order, spans } = this.layout;
    const { from, to, names } = this.window;
    for (let at = this.firstEndingAfter(from); at < this.row.to; at++) {
      const span = order[at] as number;
      if ((spans.start[span] as number) >= to) break;
      if (names !== null && !names.has(spans.name[span] as number)) continue;
      this.boxes.total++;
      this.take(span);
    }
    this.flush();
  }

  private take(span: number): void {
    const { spans } = this.layout;
    const start = spans.start[span] as number;
    const end = spans.end[span] as number;
    if (end - start >= this.pixel) {
      this.flush();
      this.push(
        span,
        start,
        end,
        spans.gpu[span] as number,
        1,
        spans.name[span] as number,
        spans.flags[span] as number,
      );
      return;
    }
    // A narrow span joins its neighbours while they stand less than a pixel apart.
    if (this.count > 0 && start - this.end >= this.pixel) this.flush();
    if (this.count === 0) {
      this.start = start;
      this.gpu = -1;
      this.flags = 0;
      this.first = span;
    }
    this.count++;
    this.end = Math.max(end, start);
    this.flags |= spans.flags[span] as number;
    const gpu = spans.gpu[span] as number;
    if (gpu >= 0) this.gpu = Math.max(this.gpu, 0) + gpu;
    const name = spans.name[span] as number;
    this.timeOfName.set(name, (this.timeOfName.get(name) ?? 0) + Math.max(end - start, 1));
  }

  private flush(): void {
    if (this.count === 0) return;
    let name = 0;
    let most = -1;
    for (const [one, time] of this.timeOfName) if (time > most) [name, most] = [one, time];
    this.push(this.count === 1 ? this.first : -1, this.start, this.end, this.gpu, this.count, name, this.flags);
    this.count = 0;
    this.timeOfName.clear();
  }

  private push(
    span: number,
    start: number,
    end: number,
    gpu: number,
    merged: number,
    name: number,
    flags: number,
  ): void {
    const { boxes, row } = this;
    boxes.lane.push(row.lane);
    boxes.depth.push(row.depth);
    boxes.name.push(name);
    boxes.start.push(start);
    boxes.end.push(end);
    boxes.gpu.push(gpu < 0 ? null : gpu);
    boxes.merged.push(merged);
    boxes.span.push(span);
    boxes.flags.push(flags);
  }

  /** Spans of a row do not overlap, so the first one that ends after a time is found by halving. */
  private firstEndingAfter(time: number): number {
    const { order, spans } = this.layout;
    let low = this.row.from;
    let high = this.row.to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((spans.end[order[middle] as number] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
