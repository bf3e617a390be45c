// The pipeline as it was declared and as it ran.

import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import type { GraphAnswer, GraphNode } from "#api/contract/pipeline.ts";
import { largestOf } from "#base/extremes.ts";
import { useRunApi, useRunClock } from "../../clock/run-clock.tsx";
import type { TimeWindow } from "../../clock/window.ts";
import { Button, IconButton } from "../../part/button.tsx";
import { Answer, CommandLine, Empty, Loading } from "../../part/notice.tsx";
import { useSize } from "../../part/on-screen.ts";
import { toOffsetNs } from "../../text/format-time.ts";
import { heightOf, layoutGraph, nodeWidth, type PlacedGraph } from "./layout.ts";
import { NodeDetails, timeOf } from "./node-details.tsx";
import "./pipeline.css";
import { Status } from "../../part/status.tsx";

/** Free room beside the graph. */
const sidePx = 72;
/** Smaller than this nobody reads what stands in a node: a longer pipeline is scrolled. */
const fitMin = 0.65;

export function PipelineView() {
  const graph = useRunApi("graph", {});
  return (
    <Answer of={graph}>
      {(data) =>
        data.nodes.length === 0 ? (
          <Empty title="No pipeline.">
            <p>Semantiva trace streams bring one:</p>
            <CommandLine text={`curl --data-binary @trace.ser.jsonl ${location.origin}/v1/trace-stream`} />
          </Empty>
        ) : (
          <Graph graph={data} />
        )
      }
    </Answer>
  );
}

/** Whether a node ran at another time than the shared window; one without times is never outside. */
function isOutside(node: GraphNode, window: TimeWindow | null, startNs: string): boolean {
  if (window === null || node.start_ns === null) return false;
  const from = toOffsetNs(node.start_ns, startNs);
  const to = node.end_ns === null ? from : toOffsetNs(node.end_ns, startNs);
  return to < window.from || from > window.to;
}

function Graph({ graph }: { readonly graph: GraphAnswer }) {
  const failed = graph.nodes.find((node) => node.status === "error");
  const [chosen, setChosen] = useState<string | null>(failed?.id ?? null);
  // The layout depends on what is connected, not on how the nodes are doing.
  const shape = useMemo(() => JSON.stringify([graph.nodes.map((node) => node.id), graph.edges]), [graph]);
  const layout = useQuery({
    queryKey: ["layout", shape],
    queryFn: () => layoutGraph(graph),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const node = graph.nodes.find((each) => each.id === chosen);
  if (layout.data === undefined) return layout.error === null ? <Loading /> : <Answer of={layout}>{() => null}</Answer>;
  return (
    <div className="pipeline fill">
      <Paper graph={graph} placed={layout.data} chosen={chosen} onChoose={setChosen} />
      {node === undefined ? null : (
        <NodeDetails key={node.id} node={node} failed={failed} onClose={() => setChosen(null)} />
      )}
    </div>
  );
}

interface PaperProps {
  readonly graph: GraphAnswer;
  readonly placed: PlacedGraph;
  readonly chosen: string | null;
  readonly onChoose: (id: string | null) => void;
}

function Paper({ graph, placed, chosen, onChoose }: PaperProps) {
  const { window, pin, startNs } = useRunClock();
  const host = useRef<HTMLDivElement>(null);
  const room = useSize(host);
  // Null fits the graph into its room.
  const [chosenZoom, setZoom] = useState<number | null>(null);
  const zoom =
    chosenZoom ?? (room.width === 0 ? 1 : Math.min(1, Math.max(fitMin, (room.width - sidePx) / placed.width)));
  const longest = largestOf([1, ...graph.nodes.map((node) => node.wall_ms ?? 0)]);
  return (
    <div ref={host} className="pipeline-scroll grow">
      <Zoom zoom={zoom} isFit={chosenZoom === null} onZoom={setZoom} />
      <div style={{ width: placed.width * zoom + 48, height: placed.height * zoom + 48 }}>
        <div
          className="pipeline-paper"
          style={{ width: placed.width, height: placed.height, transform: `scale(${zoom})` }}
        >
          <Edges placed={placed} />
          {graph.nodes.map((each) => {
            const at = placed.nodes.get(each.id) ?? { x: 0, y: 0 };
            return (
              <div
                key={each.id}
                className="pipeline-node"
                style={{ left: at.x, top: at.y, width: nodeWidth, height: heightOf(graph) }}
              >
                <NodeCard
                  node={each}
                  share={(each.wall_ms ?? 0) / longest}
                  chosen={each.id === chosen}
                  outside={isOutside(each, pin ?? window, startNs)}
                  onChoose={() => onChoose(each.id === chosen ? null : each.id)}
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface ZoomProps {
  readonly zoom: number;
  readonly isFit: boolean;
  readonly onZoom: (zoom: number | null) => void;
}

function Zoom({ zoom, isFit, onZoom }: ZoomProps) {
  return (
    <div className="pipeline-zoom no-print">
      <IconButton look="small" icon="minus" label="Zoom out" onClick={() => onZoom(Math.max(0.25, zoom / 1.25))} />
      <IconButton look="small" icon="plus" label="Zoom in" onClick={() => onZoom(Math.min(2, zoom * 1.25))} />
      <Button look="small" aria-pressed={isFit} onClick={() => onZoom(null)}>
        fit
      </Button>
    </div>
  );
}

function Edges({ placed }: { readonly placed: PlacedGraph }) {
  return (
    <svg width={placed.width} height={placed.height} aria-hidden="true">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0L8 4L0 8z" className="edge-head" />
        </marker>
      </defs>
      {placed.edges.map((edge) => (
        <path key={edge.id} d={edge.path} className={`edge edge-${edge.kind}`} markerEnd="url(#arrow)" />
      ))}
    </svg>
  );
}

interface NodeCardProps {
  readonly node: GraphNode;
  /** Its wall time over the longest, 0…1. */
  readonly share: number;
  readonly chosen: boolean;
  /** It ran outside the shared window. */
  readonly outside: boolean;
  readonly onChoose: () => void;
}

/** A node of the pipeline: what it is, how it ended, how long it took, its checks, and what it did to the context. */
function NodeCard({ node, share, chosen, outside, onChoose }: NodeCardProps) {
  const chips = [
    ...node.context.created.map((key) => ["created", `+${key}`] as const),
    ...node.context.updated.map((key) => ["updated", `~${key}`] as const),
    ...node.context.read.map((key) => ["read", key] as const),
  ];
  const time = node.wall_ms === null ? "" : timeOf(node.wall_ms);
  return (
    <button
      type="button"
      className={`column node-card node-${node.status} ${node.orphan ? "node-orphan" : ""} ${outside ? "node-outside" : ""}`}
      aria-pressed={chosen}
      onClick={onChoose}
    >
      <strong className="clip node-name" title={node.processor}>
        <bdi>{node.label}</bdi>
      </strong>
      <span className="row">
        <Status status={node.status} />
        {node.orphan ? <span className="status-warn">not declared</span> : null}
        <span className="grow" />
        <Checks node={node} />
        <span className="num muted node-wall">{time}</span>
      </span>
      <span className="meter node-time">
        <i style={{ width: `${Math.max(node.wall_ms === null ? 0 : 1, share * 100)}%` }} />
      </span>
      <span className="node-chips">
        {chips.slice(0, 3).map(([how, text]) => (
          <span key={text} className={`chip chip-${how}`} title={`${how} ${text.replace(/^[+~]/, "")}`}>
            <span className="clip">{text}</span>
          </span>
        ))}
        {chips.length > 3 ? <span className="muted">+{chips.length - 3}</span> : null}
      </span>
    </button>
  );
}

/** Three dots: before, after, always. The worst result gives the colour; the title says it in words. */
function Checks({ node }: { readonly node: GraphNode }) {
  return (["pre", "post", "invariant"] as const).map((when) => {
    const checks = node.checks.filter((check) => check.when === when);
    const failed = checks.filter((check) => check.result === "FAIL").length;
    const warned = checks.filter((check) => check.result !== "FAIL" && check.result !== "PASS").length;
    const tone = failed > 0 ? "status-failed" : warned > 0 ? "status-warn" : "status-completed";
    const text = `${when}: ${checks.length === 0 ? "no checks" : `${checks.length - failed - warned} passed, ${warned} warned, ${failed} failed`}`;
    return (
      <i key={when} className={`check ${checks.length === 0 ? "" : tone}`} title={text} role="img" aria-label={text} />
    );
  });
}
