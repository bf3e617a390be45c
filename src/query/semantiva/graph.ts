// The pipeline as declared and as executed: nodes and edges of `pipeline_spec_canonical`, what its SERs add, and what
// each node did when it last ran.

import type { GraphAnswer, GraphNode, NodeStatus } from "#api/contract/pipeline.ts";
import { parseJson } from "#base/json/parse.ts";
import { atPointer, itemBytes, memberTexts } from "#base/json/pointer.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";
import type { NodeAggregate, RunAggregate } from "./aggregate.ts";
import { isTerminal } from "./completeness.ts";

export type Graph = Omit<GraphAnswer, "as_of">;
type GraphEdge = Graph["edges"][number];
type NodeCheck = GraphNode["checks"][number];

/** `specPayload` and `payloadOf`: stored payloads (strict JSON) of the run's start line and of a node's last SER. */
export function toGraph(
  run: RunAggregate,
  specPayload: string,
  payloadOf: (node: NodeAggregate) => string | undefined,
): Graph {
  const spec = new Spec(specPayload);
  const edges = toEdges(run, spec);
  // Declared nodes in their order, then executed ones, then those that only an edge names: no edge hangs loose.
  const ids = new Set([...spec.nodes.keys(), ...run.nodes.keys(), ...edges.flatMap(({ from, to }) => [from, to])]);
  const nodes = Array.from(ids, (id) => {
    const node = run.nodes.get(id);
    return toNode(id, spec, node, node === undefined ? "" : (payloadOf(node) ?? ""));
  });
  return {
    pipeline_id: run.pipeline_id ?? [...run.nodes.values()][0]?.last.pipeline_id ?? "",
    semantic_id: run.start?.semantic_id ?? "",
    config_id: run.start?.config_id ?? "",
    nodes,
    edges,
  };
}

interface SpecNode {
  readonly processor: string;
  readonly role: string;
  readonly params: ReadonlyMap<string, string>;
}

const textEncoder = new TextEncoder();

/** The declared pipeline; empty when the start line has not arrived. */
class Spec {
  readonly nodes = new Map<string, SpecNode>();
  readonly edges: (readonly [string, string])[] = [];

  constructor(payload: string) {
    const bytes = textEncoder.encode(payload);
    const parsed = parseJson(bytes);
    if (!parsed.ok) return;
    const list = (pointer: string) => listOf(atPointer(parsed.value, pointer));
    const written = itemBytes(bytes, "/pipeline_spec_canonical/nodes");
    for (const [i, node] of list("/pipeline_spec_canonical/nodes").entries()) {
      const id = textOf(atPointer(node, "/node_uuid"));
      if (id === "") continue;
      this.nodes.set(id, {
        processor: textOf(atPointer(node, "/processor_ref")),
        role: textOf(atPointer(node, "/role")),
        params: memberTexts(written[i] as Uint8Array, "/params"),
      });
    }
    for (const edge of list("/pipeline_spec_canonical/edges")) {
      const from = textOf(atPointer(edge, "/source"));
      const to = textOf(atPointer(edge, "/target"));
      if (from !== "" && to !== "") this.edges.push([from, to]);
    }
  }
}

function toEdges(run: RunAggregate, spec: Spec): GraphEdge[] {
  const edges = new Map<string, GraphEdge>();
  const add = (from: string, to: string, kind: GraphEdge["kind"]) => {
    const key = JSON.stringify([from, to]);
    if (!edges.has(key)) edges.set(key, { from, to, kind });
  };
  for (const [from, to] of spec.edges) add(from, to, "declared");
  for (const node of run.nodes.values()) {
    for (const from of node.last.upstream) add(from, node.node_id, "observed");
  }
  return [...edges.values()];
}

function toNode(id: string, spec: Spec, node: NodeAggregate | undefined, payload: string): GraphNode {
  const declared = spec.nodes.get(id);
  const bytes = textEncoder.encode(payload);
  const parsed = parseJson(bytes);
  const record = parsed.ok ? parsed.value : null;
  const last = node?.last;
  const processor = last?.processor || declared?.processor || "";
  const error = node?.last_status === "error" ? atPointer(record, "/error") : undefined;
  return {
    id,
    label: declared?.processor || processor.split(".").at(-1) || id,
    processor,
    role: declared?.role ?? "",
    status: toStatus(node),
    orphan: node !== undefined && declared === undefined && spec.nodes.size > 0,
    executions: Object.values(node?.counts ?? {}).reduce((sum, count) => sum + count, 0),
    counts: node?.counts ?? {},
    start_ns: toNs(last?.start_ns),
    end_ns: toNs(last?.end_ns),
    wall_ms: last?.wall_ms ?? null,
    cpu_ms: last?.cpu_ms ?? null,
    parameters: toParameters(bytes, record, declared),
    context: {
      read: textsAt(record, "/context_delta/read_keys"),
      created: textsAt(record, "/context_delta/created_keys"),
      updated: textsAt(record, "/context_delta/updated_keys"),
      summaries: record === null ? "" : (memberTexts(bytes, "/context_delta").get("key_summaries") ?? ""),
    },
    checks: record === null ? [] : toChecks(bytes, record),
    error:
      error === undefined
        ? null
        : { type: textOf(atPointer(error, "/type")), message: textOf(atPointer(error, "/message")) },
    record: payload,
  };
}

function toStatus(node: NodeAggregate | undefined): NodeStatus {
  if (node === undefined) return "missing";
  return isTerminal(node.last_status) ? (node.last_status as NodeStatus) : "unknown";
}

/** What the node ran with; for one that never ran, what it was declared with. */
function toParameters(bytes: Uint8Array, record: JsonValue, declared: SpecNode | undefined): GraphNode["parameters"] {
  const parameters = new Map<string, { name: string; value: string; source: string }>();
  for (const [name, value] of declared?.params ?? []) parameters.set(name, { name, value, source: "node" });
  if (record !== null) {
    const sources = atPointer(record, "/processor/parameter_sources") ?? null;
    for (const [name, value] of memberTexts(bytes, "/processor/parameters")) {
      parameters.set(name, { name, value, source: textOf(atPointer(sources, `/${escapeSegment(name)}`)) });
    }
  }
  return [...parameters.values()];
}

function toChecks(bytes: Uint8Array, record: JsonValue): NodeCheck[] {
  const checks: NodeCheck[] = [];
  const lists = [
    ["pre", "preconditions"],
    ["post", "postconditions"],
    ["invariant", "invariants"],
  ] as const;
  for (const [when, name] of lists) {
    const written = itemBytes(bytes, `/assertions/${name}`);
    for (const [i, check] of listOf(atPointer(record, `/assertions/${name}`)).entries()) {
      const details = memberTexts(written[i] as Uint8Array, "").get("details") ?? "";
      checks.push({
        when,
        code: textOf(atPointer(check, "/code")),
        result: textOf(atPointer(check, "/result")),
        details,
      });
    }
  }
  return checks;
}

function escapeSegment(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function toNs(ns: bigint | undefined): string | null {
  return ns === undefined || ns === 0n ? null : String(ns);
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return value instanceof NumberText ? value.text : "";
}

function textsAt(record: JsonValue, pointer: string): string[] {
  return listOf(atPointer(record, pointer)).map((item) => textOf(item));
}
