// The boxes of a window at a pixel resolution. What is narrower than a pixel is merged with its neighbours of the
// same row into one box that says how many it stands for and bears the name that took most of the time.

import { firstEndingAfter, type TimelineLayout, type TimelineRow } from "./layout.ts";

export class TimelineBoxes {
  readonly lane: number[] = [];
  readonly depth: number[] = [];
  readonly name: number[] = [];
  readonly start: number[] = [];
  readonly end: number[] = [];
  readonly gpu: (number | null)[] = [];
  /** 1 for a span, more for a merged box. */
  readonly merged: number[] = [];
  /** How many names the spans of a box have. */
  readonly names: number[] = [];
  /** The span of a box that stands for one; -1 for a merged box. */
  readonly span: number[] = [];
  readonly flags: number[] = [];
  /** Spans in the window, counted one by one. */
  total = 0;
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
  const merger = new RowMerger(layout, window);
  for (const row of layout.rows) if (window.lane === null || row.lane === window.lane) merger.run(row);
  return merger.boxes;
}

class RowMerger {
  readonly boxes = new TimelineBoxes();
  private readonly layout: TimelineLayout;
  private readonly window: TimelineWindow;
  private readonly pixel: number;
  private row: TimelineRow = { lane: 0, depth: 0, from: 0, to: 0 };
  // The merged box being gathered, in members rather than an object: a million spans go through here.
  private count = 0;
  private start = 0;
  private end = 0;
  private gpu = -1;
  private flags = 0;
  private first = 0;
  /** Time by name, and the names that have any, in the order they came. */
  private readonly timeOfName: Float64Array;
  private readonly met: Uint32Array;
  private metCount = 0;

  constructor(layout: TimelineLayout, window: TimelineWindow) {
    this.layout = layout;
    this.window = window;
    this.pixel = Math.max((window.to - window.from) / window.widthPx, 0);
    this.timeOfName = new Float64Array(layout.spans.names.texts.length);
    this.met = new Uint32Array(this.timeOfName.length);
  }

  run(row: TimelineRow): void {
    this.row = row;
    const { pixel, window } = this;
    const { start, end, name } = this.layout;
    const { to, names } = window;
    for (let at = firstEndingAfter(end, row, window.from); at < row.to; at++) {
      const begins = start[at] as number;
      if (begins >= to) break;
      if (names !== null && !names.has(name[at] as number)) continue;
      this.boxes.total++;
      const length = (end[at] as number) - begins;
      if (length >= pixel) {
        this.flush();
        this.push(
          at,
          begins,
          end[at] as number,
          this.layout.gpu[at] as number,
          { count: 1, names: 1 },
          name[at] as number,
          this.layout.flags[at] as number,
        );
        continue;
      }
      // A narrow span joins its neighbours while they stand less than a pixel apart.
      if (this.count > 0 && begins - this.end >= pixel) this.flush();
      this.gather(at, begins, length);
    }
    this.flush();
  }

  private gather(at: number, begins: number, length: number): void {
    const { layout, timeOfName } = this;
    if (this.count === 0) {
      this.start = begins;
      this.gpu = -1;
      this.flags = 0;
      this.first = at;
    }
    this.count++;
    this.end = begins + Math.max(length, 0);
    this.flags |= layout.flags[at] as number;
    const gpu = layout.gpu[at] as number;
    if (gpu >= 0) this.gpu = Math.max(this.gpu, 0) + gpu;
    const name = layout.name[at] as number;
    const time = timeOfName[name] as number;
    if (time === 0) this.met[this.metCount++] = name;
    timeOfName[name] = time + Math.max(length, 1);
  }

  private flush(): void {
    if (this.count === 0) return;
    let name = 0;
    let most = -1;
    for (let i = 0; i < this.metCount; i++) {
      const one = this.met[i] as number;
      const time = this.timeOfName[one] as number;
      if (time > most) [name, most] = [one, time];
      this.timeOfName[one] = 0;
    }
    const held = { count: this.count, names: this.metCount };
    this.push(this.count === 1 ? this.first : -1, this.start, this.end, this.gpu, held, name, this.flags);
    this.metCount = 0;
    this.count = 0;
  }

  private push(
    at: number,
    start: number,
    end: number,
    gpu: number,
    held: { readonly count: number; readonly names: number },
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
    boxes.merged.push(held.count);
    boxes.names.push(held.names);
    boxes.span.push(at < 0 ? -1 : (this.layout.order[at] as number));
    boxes.flags.push(flags);
  }
}
