// Where the nodes of a pipeline stand, left to right in layers. The layout engine is large, so it is loaded with this
// view only and runs in its own worker.

import ElkApi, { type ElkNode } from "elkjs/lib/elk-api.js";
import workerUrl from "elkjs/lib/elk-worker.min.js?url";
import type { GraphAnswer } from "#api/contract/pipeline.ts";

export const nodeWidth = 224;
/** With the keys of the context that a node touches, and without. */
const nodeHeights = { withKeys: 92, plain: 70 } as const;

export function heightOf({ nodes }: GraphAnswer): number {
  const keys = nodes.flatMap(({ context }) => [...context.created, ...context.updated, ...context.read]);
  return keys.length === 0 ? nodeHeights.plain : nodeHeights.withKeys;
}

export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, { readonly x: number; readonly y: number }>;
  readonly edges: readonly { readonly id: string; readonly path: string; readonly kind: string }[];
}

/** Fetches the engine ahead of its use; a worker that cannot be loaded would never say so. */
export async function fetchLayoutEngine(): Promise<void> {
  const response = await fetch(workerUrl);
  if (!response.ok) throw new Error("The layout engine could not be loaded.");
  await response.arrayBuffer();
}

export async function layoutGraph(graph: GraphAnswer): Promise<PlacedGraph> {
  await fetchLayoutEngine();
  const elk = new ElkApi({ workerFactory: () => new Worker(workerUrl) });
  try {
    const known = new Set(graph.nodes.map((node) => node.id));
    const edges = graph.edges.filter((edge) => known.has(edge.from) && known.has(edge.to));
    const placed = await elk.layout({
      id: "root",
      layoutOptions: {
        "elk.algorithm": "layered",
        "elk.direction": "RIGHT",
        "elk.layered.spacing.nodeNodeBetweenLayers": "28",
        "elk.spacing.nodeNode": "24",
        "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
        "elk.edgeRouting": "SPLINES",
      },
      children: graph.nodes.map((node) => ({ id: node.id, width: nodeWidth, height: heightOf(graph) })),
      edges: edges.map((edge, i) => ({ id: `e${i}`, sources: [edge.from], targets: [edge.to] })),
    });
    return toPlaced(placed, edges);
  } finally {
    elk.terminateWorker();
  }
}

function toPlaced(placed: ElkNode, edges: readonly { kind: string }[]): PlacedGraph {
  return {
    width: placed.width ?? 0,
    height: placed.height ?? 0,
    nodes: new Map((placed.children ?? []).map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }])),
    edges: (placed.edges ?? []).flatMap((edge, i) => {
      const section = edge.sections?.[0];
      if (section === undefined) return [];
      const points = [...(section.bendPoints ?? []), section.endPoint].map((point) => `${point.x} ${point.y}`);
      const start = `M${section.startPoint.x} ${section.startPoint.y}`;
      const curve = points.length % 3 === 0 ? `C${points.join(" ")}` : `L${points.join("L")}`;
      return [{ id: edge.id, path: start + curve, kind: edges[i]?.kind ?? "declared" }];
    }),
  };
}
