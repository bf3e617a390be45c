// The spans of an answer in typed columns, indexed by the row they are drawn in, so that drawing and hit-testing
// touch only what is on screen.

import type { SpansAnswer } from "#api/contract/span.ts";
import { lowerBound } from "../../chart/scale.ts";
import { countOf, formatCount } from "../../text/format-number.ts";

export interface BoxRow {
  readonly lane: number;
  readonly depth: number;
  /** Boxes `from` to `to` (not included), ascending in start. */
  readonly from: number;
  readonly to: number;
}

export interface Boxes {
  readonly answer: SpansAnswer;
  /** Nanoseconds after the run's start. */
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly rows: readonly BoxRow[];
  /** Times of marks on the run's clock. */
  readonly marksAt: Float64Array;
  /** What the answer covers. */
  readonly from: number;
  readonly to: number;
}

export function toBoxes(answer: SpansAnswer, startNs: string): Boxes {
  const zero = Number(BigInt(answer.base_ns) - BigInt(startNs));
  const { spans, marks, window } = answer;
  const start = Float64Array.from(spans.start, (at) => at + zero);
  const end = Float64Array.from(spans.end, (at) => at + zero);
  const rows: BoxRow[] = [];
  for (let i = 0; i < start.length; ) {
    const lane = spans.lane[i] ?? 0;
    const depth = spans.depth[i] ?? 0;
    let to = i + 1;
    while (to < start.length && spans.lane[to] === lane && spans.depth[to] === depth) to++;
    rows.push({ lane, depth, from: i, to });
    i = to;
  }
  return {
    answer,
    start,
    end,
    rows,
    marksAt: Float64Array.from(marks.at, (at) => at + zero),
    from: window.from + zero,
    to: window.to + zero,
  };
}

/**
 * The boxes of a row that may touch [from, to]. Spans of one row hardly overlap, so the one before the first start
 * in the window is enough to look at; where they do overlap, `back` more are.
 */
export function visibleBoxes(
  boxes: Boxes,
  row: BoxRow,
  from: number,
  to: number,
  back = 4,
): { from: number; to: number } {
  const first = lowerBound(boxes.start, from, row.from, row.to);
  const last = lowerBound(boxes.start, to, first, row.to);
  return { from: Math.max(row.from, first - back), to: last };
}

/** The box at a moment in a row: the latest that covers it, else the nearest within `slack` nanoseconds. */
export function boxAt(boxes: Boxes, row: BoxRow, t: number, slack: number): number {
  const range = visibleBoxes(boxes, row, t - slack, t + slack);
  let best = -1;
  let away = slack;
  for (let i = range.to - 1; i >= range.from; i--) {
    const start = boxes.start[i] ?? 0;
    const end = boxes.end[i] ?? 0;
    if (start <= t && t <= end) return i;
    const distance = t < start ? start - t : t - end;
    if (distance <= away) {
      away = distance;
      best = i;
    }
  }
  return best;
}

/** A span in a box with room for some characters: "step 283" is told by its number, "blocks.1.attn" by its last part. */
export function spanText(name: string, index: string | null, charsMax: number): string {
  const text = index === null ? name : `${name} ${index}`;
  if (text.length <= charsMax) return text;
  const telling = index ?? /[^/.:]+$/.exec(name)?.[0] ?? name;
  return telling.length <= charsMax ? telling : `${telling.slice(0, charsMax - 1)}…`;
}

/** "120 × step", or "153 840 spans, 8 names" where the box holds more than one. */
export function mergedText(name: string, spans: number, names: number): string {
  return names > 1 ? `${countOf(spans, "span")}, ${names} names` : `${formatCount(spans)} × ${name}`;
}
