// A node of the pipeline: what it is, how it ended, how long it took, its checks, and what it did to the context.

import type { GraphNode } from "#api/contract/pipeline.ts";
import { Status } from "../../part/status.tsx";
import { formatDuration } from "../../text/format-time.ts";

interface NodeCardProps {
  readonly node: GraphNode;
  /** Its wall time over the longest, 0…1. */
  readonly share: number;
  readonly chosen: boolean;
  /** It ran outside the shared window. */
  readonly outside: boolean;
  readonly onChoose: () => void;
}

export function NodeCard({ node, share, chosen, outside, onChoose }: NodeCardProps) {
  const chips = [
    ...node.context.created.map((key) => ["created", `+${key}`] as const),
    ...node.context.updated.map((key) => ["updated", `~${key}`] as const),
    ...node.context.read.map((key) => ["read", key] as const),
  ];
  const time = node.wall_ms === null ? "" : node.wall_ms < 1 ? "<1 ms" : formatDuration(node.wall_ms * 1e6);
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
        <span className="muted node-wall">{time}</span>
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
