// A flame graph laid out: what ran under what, as wide as the time it took. Pure.

import type { SpanFlameAnswer } from "#api/contract/span.ts";

export interface FlameBox {
  readonly node: number;
  readonly name: string;
  readonly depth: number;
  /** Shares of the whole width. */
  readonly x: number;
  readonly width: number;
  readonly count: number;
  readonly wallNs: number;
  /** Time in none of its children. */
  readonly selfNs: number;
  readonly gpuNs: number | null;
}

/** Narrower than this cannot be seen, and there may be thousands. */
const shareMin = 0.0008;

/** The tree below `focus`, or all of it; children stand in the order of their time. */
export function toFlameBoxes({ nodes, names }: SpanFlameAnswer, focus: number | null): FlameBox[] {
  const childrenOf = Map.groupBy(nodes.parent.keys(), (node) => nodes.parent[node] ?? -1);
  const wallOf = (node: number) => nodes.wall_ns[node] ?? 0;
  const boxes: FlameBox[] = [];
  const place = (list: readonly number[], depth: number, x: number, width: number, wall: number) => {
    const sum = list.reduce((all, node) => all + wallOf(node), 0);
    // Children that outlive their parent, or ran beside each other, share its width.
    const perNs = width / Math.max(1, wall, sum);
    let at = x;
    for (const node of list.toSorted((a, b) => wallOf(b) - wallOf(a))) {
      const here = wallOf(node) * perNs;
      const children = childrenOf.get(node) ?? [];
      const inner = children.reduce((all, child) => all + wallOf(child), 0);
      if (here >= shareMin) {
        boxes.push({
          node,
          name: names[nodes.name[node] ?? 0] ?? "",
          depth,
          x: at,
          width: here,
          count: nodes.count[node] ?? 0,
          wallNs: wallOf(node),
          selfNs: Math.max(0, wallOf(node) - inner),
          gpuNs: nodes.gpu_ns[node] ?? null,
        });
        place(children, depth + 1, at, here, wallOf(node));
      }
      at += here;
    }
  };
  place(focus === null ? (childrenOf.get(-1) ?? []) : [focus], 0, 0, 1, 0);
  return boxes;
}

export interface NameSum {
  readonly name: string;
  readonly count: number;
  readonly wallNs: number;
  readonly selfNs: number;
  readonly gpuNs: number | null;
}

/** The same, by name alone; a name below itself counts its time once. */
export function sumByName({ nodes, names }: SpanFlameAnswer): NameSum[] {
  const inner = new Float64Array(nodes.parent.length);
  nodes.parent.forEach((parent, node) => {
    if (parent >= 0) inner[parent] = (inner[parent] ?? 0) + (nodes.wall_ns[node] ?? 0);
  });
  const sums = new Map<number, { count: number; wallNs: number; selfNs: number; gpuNs: number | null }>();
  const isBelowItself = (node: number): boolean => {
    for (let up = nodes.parent[node] ?? -1; up >= 0; up = nodes.parent[up] ?? -1) {
      if (nodes.name[up] === nodes.name[node]) return true;
    }
    return false;
  };
  nodes.name.forEach((name, node) => {
    const sum = sums.get(name) ?? { count: 0, wallNs: 0, selfNs: 0, gpuNs: null };
    const wall = nodes.wall_ns[node] ?? 0;
    const gpu = nodes.gpu_ns[node] ?? null;
    sum.count += nodes.count[node] ?? 0;
    if (!isBelowItself(node)) sum.wallNs += wall;
    sum.selfNs += Math.max(0, wall - (inner[node] ?? 0));
    if (gpu !== null) sum.gpuNs = (sum.gpuNs ?? 0) + gpu;
    sums.set(name, sum);
  });
  return [...sums].map(([name, sum]) => ({ name: names[name] ?? "", ...sum })).sort((a, b) => b.wallNs - a.wallNs);
}
