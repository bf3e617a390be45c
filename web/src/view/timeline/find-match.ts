// The next span that a search means, exactly, however far the view is zoomed out. The server merges what is narrower
// than a pixel, so the box it is in is asked for again, finer, until it is a span of its own.

import type { SpansAnswer, SpansQuery } from "#api/contract/span.ts";
import type { TimeWindow } from "../../clock/window.ts";
import { fromOffsetNs } from "../../text/format-time.ts";
import { type Boxes, toBoxes } from "./boxes.ts";

export interface FoundSpan extends TimeWindow {
  readonly id: string;
}

export interface MatchSearch {
  /** With `*`, as the API takes it. */
  readonly pattern: string;
  readonly startNs: string;
  readonly extent: TimeWindow;
  ask(query: SpansQuery): Promise<SpansAnswer>;
}

const widthPx = 4096;
/** Each round is a thousand times finer; nanoseconds over months are reached long before. */
const roundsMax = 8;

/** The first match that starts after `t`, or the last before it when `way` is −1; null when there is none. */
export function findMatch(search: MatchSearch, t: number, way: 1 | -1): Promise<FoundSpan | null> {
  const { extent } = search;
  return searchWindow(search, t, way, way === 1 ? { from: t + 1, to: extent.to + 1 } : { from: extent.from, to: t }, 0);
}

async function searchWindow(
  search: MatchSearch,
  t: number,
  way: 1 | -1,
  window: TimeWindow,
  round: number,
): Promise<FoundSpan | null> {
  if (window.to <= window.from) return null;
  const { startNs } = search;
  const [from_ns, to_ns] = [fromOffsetNs(window.from, startNs), fromOffsetNs(window.to, startNs)];
  const boxes = toBoxes(await search.ask({ name: search.pattern, from_ns, to_ns, width: widthPx }), startNs);
  const { merged, id } = boxes.answer.spans;
  for (const box of candidates(boxes, t, way)) {
    const [from = 0, to = 0] = [boxes.start[box], boxes.end[box]];
    if ((merged[box] ?? 1) === 1 || round === roundsMax) return { id: id[box] ?? "", from, to };
    const found = await searchWindow(search, t, way, nearEnd({ from, to }, t, way, window), round + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Spans of a merged box are narrower than a pixel and less than one apart, so the one that is meant is near its end. */
function nearEnd(box: TimeWindow, t: number, way: 1 | -1, window: TimeWindow): TimeWindow {
  const reach = (4 * (window.to - window.from)) / widthPx + 1;
  const from = Math.max(t + 1, box.from);
  const to = Math.min(t, box.to + 1);
  return way === 1 ? { from, to: from + reach } : { from: to - reach, to };
}

/** Boxes that may hold what is meant, the likeliest first: by the earliest, or latest, start that is possible in them. */
function candidates(boxes: Boxes, t: number, way: 1 | -1): number[] {
  const { merged } = boxes.answer.spans;
  const bounds = Array.from(boxes.start, (start, i) => {
    const [end = 0, several] = [boxes.end[i], (merged[i] ?? 1) > 1];
    if (way === 1) return start > t ? start : several && end > t ? t + 1 : Number.NaN;
    return start < t ? (several ? Math.min(end, t - 1) : start) : Number.NaN;
  });
  const possible = [...bounds.keys()].filter((i) => !Number.isNaN(bounds[i]));
  return possible.sort((a, b) => way * ((bounds[a] ?? 0) - (bounds[b] ?? 0)));
}
