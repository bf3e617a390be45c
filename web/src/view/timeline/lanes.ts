// Where each lane is drawn: rank, process and thread from top to bottom, each as high as its nesting.

import type { Lane } from "#api/contract/span.ts";

export const rowPx = 18;
const headPx = 20;
const gapPx = 6;

export interface PlacedLane {
  readonly lane: Lane;
  readonly top: number;
  /** Where the first row of spans begins. */
  readonly rowsTop: number;
  readonly height: number;
  readonly title: string;
}

export function placeLanes(lanes: readonly Lane[]): { placed: PlacedLane[]; height: number } {
  const order = [...lanes].sort(
    (a, b) => (a.rank ?? -1) - (b.rank ?? -1) || compare(a.pid, b.pid) || compare(a.thread, b.thread) || a.id - b.id,
  );
  let top = 0;
  const placed = order.map((lane) => {
    const height = headPx + Math.max(1, lane.depth) * rowPx + gapPx;
    const at = { lane, top, rowsTop: top + headPx, height, title: titleOf(lane, lanes) };
    top += height;
    return at;
  });
  return { placed, height: top };
}

/** Only what tells a lane from the others: a single process needs no pid in its title. */
function titleOf(lane: Lane, all: readonly Lane[]): string {
  const several = (pick: (lane: Lane) => unknown) => new Set(all.map(pick)).size > 1;
  const parts = [
    lane.rank === null ? "" : `rank ${lane.rank}`,
    lane.pid !== null && several((each) => (each.rank === lane.rank ? each.pid : lane.pid)) ? `pid ${lane.pid}` : "",
    lane.thread !== null && several((each) => each.thread) ? `thread ${lane.thread.slice(-6)}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? lane.label : parts.join(" · ");
}

function compare(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return BigInt(a) < BigInt(b) ? -1 : 1;
}

/** The lane and the row of nesting at a height, or null between lanes. */
export function rowAt(placed: readonly PlacedLane[], y: number): { lane: PlacedLane; depth: number } | null {
  const lane = placed.find((each) => y >= each.top && y < each.top + each.height);
  if (lane === undefined || y < lane.rowsTop) return null;
  const depth = Math.floor((y - lane.rowsTop) / rowPx);
  return depth < lane.lane.depth ? { lane, depth } : null;
}
