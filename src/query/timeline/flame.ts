// Where the time of a window went, by path of nesting: spans of one name under the same path are one node, whenever and
// in whichever lane they ran. A span lies below the one that covers its start in the row above, as it is drawn.

import { firstEndingAfter, type TimelineLayout, type TimelineRow } from "./layout.ts";

export interface FlameNodes {
  /** Of each node: the node above it, which comes before it; -1 at the top. */
  readonly parent: number[];
  /** A code of `TimelineSpans.names`. */
  readonly name: number[];
  readonly count: number[];
  /** Only what lies within the window. */
  readonly wall: number[];
  /** Null where no span has any. */
  readonly gpu: (number | null)[];
}

export interface FlameWindow {
  readonly from: number;
  readonly to: number;
  /** Only these lanes; null for all. */
  readonly lanes: ReadonlySet<number> | null;
}

/** Beyond this many paths no new node is made: a span then counts as time of the node above it. */
const nodesMax = 20_000;

export function toFlame(layout: TimelineLayout, window: FlameWindow): FlameNodes {
  const flame = new Flame(layout, window);
  for (const row of layout.rows) if (window.lanes === null || window.lanes.has(row.lane)) flame.take(row);
  return flame.nodes;
}

class Flame {
  readonly nodes: FlameNodes = { parent: [], name: [], count: [], wall: [], gpu: [] };
  private readonly layout: TimelineLayout;
  private readonly window: FlameWindow;
  private readonly known = new Map<number, number>();
  /** The row above: its places within the window, and the node of each. */
  private above: { readonly from: number; readonly nodes: Int32Array } = { from: 0, nodes: new Int32Array() };

  constructor(layout: TimelineLayout, window: FlameWindow) {
    this.layout = layout;
    this.window = window;
  }

  take(row: TimelineRow): void {
    const { start, end } = this.layout;
    const { from, to } = this.window;
    const first = firstEndingAfter(end, row, from);
    let last = first;
    while (last < row.to && (start[last] as number) < to) last++;
    const nodes = new Int32Array(last - first);
    let upper = 0;
    const above = row.depth === 0 ? { from: 0, nodes: new Int32Array() } : this.above;
    for (let at = first; at < last; at++) {
      const begins = start[at] as number;
      while (upper + 1 < above.nodes.length && (start[above.from + upper + 1] as number) <= begins) upper++;
      const parent = this.covers(above.from + upper, begins, above.nodes[upper]);
      nodes[at - first] = this.add(at, parent);
    }
    this.above = { from: first, nodes };
  }

  private covers(place: number, time: number, node: number | undefined): number {
    const { start, end } = this.layout;
    return node !== undefined && (start[place] as number) <= time && time <= (end[place] as number) ? node : -1;
  }

  private add(at: number, parent: number): number {
    const { name, start, end, gpu } = this.layout;
    const { nodes, window } = this;
    const node = this.nodeOf(parent, name[at] as number);
    if (node === parent) return node;
    nodes.count[node] = (nodes.count[node] as number) + 1;
    const wall = Math.min(end[at] as number, window.to) - Math.max(start[at] as number, window.from);
    nodes.wall[node] = (nodes.wall[node] as number) + Math.max(0, wall);
    const time = gpu[at] as number;
    if (time >= 0) nodes.gpu[node] = (nodes.gpu[node] ?? 0) + time;
    return node;
  }

  private nodeOf(parent: number, name: number): number {
    const key = (parent + 1) * this.layout.spans.names.texts.length + name;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const { nodes } = this;
    if (nodes.parent.length === nodesMax) return parent;
    this.known.set(key, nodes.parent.length);
    nodes.name.push(name);
    nodes.count.push(0);
    nodes.wall.push(0);
    nodes.gpu.push(null);
    return nodes.parent.push(parent) - 1;
  }
}
