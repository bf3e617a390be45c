// From what a program reports about a pipeline to the records of the trace.

import { arch, platform, release } from "node:os";
import { version } from "#base/version.ts";
import type { TraceRecord } from "#wire/semantiva/encode.ts";
import type { PythonValue } from "#wire/semantiva/python-json.ts";
import { type Detail, formatCompact, type Summary, sha256, summarize, summarizeContext } from "./detail.ts";
import { toTraceObject, toTraceValue } from "./value.ts";

export type Values = Readonly<Record<string, unknown>>;
export type NodeStatus = "succeeded" | "error" | "skipped" | "cancelled";
export type ParameterSource = "context" | "node" | "default";

export interface Check {
  readonly code: string;
  readonly result: "PASS" | "WARN" | "FAIL";
  readonly details?: Values;
}

/** A node as it is planned. */
export interface PlannedNode {
  /** Default: derived from its place, processor and parameters, so the same plan has the same ids. */
  readonly id?: string;
  readonly processor: string;
  readonly params?: Values;
  readonly role?: string;
}

export interface PipelinePlan {
  readonly nodes: readonly PlannedNode[];
  /** Pairs of node indices. Default: each node feeds the next. */
  readonly edges?: readonly (readonly [number, number])[];
}

export interface KnownPlan {
  readonly pipelineId: string;
  readonly nodeIds: readonly string[];
  readonly upstream: readonly (readonly string[])[];
  readonly spec: { readonly [key: string]: PythonValue };
}

/** What happened at one node. */
export interface NodeEvent {
  readonly nodeId: string;
  /** Which code ran, as an import path or name. */
  readonly processor: string;
  readonly status: NodeStatus;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly wallMs?: number;
  readonly cpuMs?: number;
  readonly upstream?: readonly string[];
  readonly parameters?: Values;
  readonly parameterSources?: Readonly<Record<string, ParameterSource>>;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly contextBefore?: Values;
  readonly contextAfter?: Values;
  /** Context keys the node looked at. */
  readonly reads?: readonly string[];
  readonly preconditions?: readonly Check[];
  readonly postconditions?: readonly Check[];
  readonly invariants?: readonly Check[];
  readonly error?: unknown;
  readonly tags?: Values;
}

const environment = {
  python: null,
  platform: `${platform()}-${release()}-${arch()}`,
  semantiva: null,
  node: process.versions.node,
  tributary: version,
};

/** Canonical spec, node ids, and the pipeline's id: SHA-256 of the canonical spec, as Semantiva computes it. */
export function toKnownPlan(plan: PipelinePlan): KnownPlan {
  const nodes = plan.nodes.map((node, index) => ({
    declaration_index: index,
    declaration_subindex: 0,
    node_uuid: node.id ?? toNodeId(node, index),
    params: toTraceObject(node.params ?? {}),
    ports: {},
    processor_ref: node.processor,
    role: node.role ?? "processor",
  }));
  const pairs = plan.edges ?? nodes.slice(1).map((_, index) => [index, index + 1] as const);
  const edges = pairs.flatMap(([from, to]) => {
    const source = nodes[from]?.node_uuid;
    const target = nodes[to]?.node_uuid;
    return source === undefined || target === undefined ? [] : [{ source, target }];
  });
  const spec = { version: 1, nodes, edges };
  return {
    spec,
    pipelineId: `plid-${sha256(formatCompact(spec))}`,
    nodeIds: nodes.map((node) => node.node_uuid),
    upstream: nodes.map((node) => edges.filter((edge) => edge.target === node.node_uuid).map((edge) => edge.source)),
  };
}

export function toNodeRecord(runId: string, pipelineId: string, event: NodeEvent, detail: Detail): TraceRecord {
  const delta = toContextDelta(event, detail);
  return {
    record_type: "ser",
    schema_version: 1,
    // The document requires the header on every line; Semantiva's own driver leaves it out of these.
    run_id: runId,
    identity: { run_id: runId, pipeline_id: pipelineId, node_id: event.nodeId },
    dependencies: { upstream: event.upstream ?? [] },
    processor: {
      ref: event.processor,
      parameters: toTraceObject(event.parameters ?? {}),
      parameter_sources: toTraceObject(event.parameterSources ?? {}),
    },
    context_delta: delta,
    assertions: toAssertions(event, delta),
    timing: {
      started_at: formatTime(event.startedAtMs),
      finished_at: formatTime(event.finishedAtMs),
      wall_ms: toWholeMs(event.wallMs ?? event.finishedAtMs - event.startedAtMs),
      cpu_ms: event.cpuMs === undefined ? undefined : toWholeMs(event.cpuMs),
    },
    status: event.status,
    error: event.error === undefined ? undefined : toErrorFields(event.error),
    tags: { node_ref: event.processor, ...toTraceObject(event.tags ?? {}) },
    summaries: toSummaries(event, detail),
  };
}

/** RFC 3339 in UTC with milliseconds. */
export function formatTime(timeMs: number): string {
  return new Date(Number.isFinite(timeMs) ? timeMs : 0).toISOString();
}

export function toErrorFields(error: unknown): { readonly [key: string]: PythonValue } {
  if (error instanceof Error) return { type: error.name, message: error.message };
  return { type: typeof error, message: typeof error === "string" ? error : formatCompact(error) };
}

function toContextDelta(event: NodeEvent, detail: Detail) {
  const before = event.contextBefore ?? {};
  const after = event.contextAfter ?? before;
  const created = Object.keys(after).filter((key) => !(key in before));
  const updated = Object.keys(after).filter((key) => key in before && isChanged(before[key], after[key]));
  const entries = [...created, ...updated].map((key) => [key, summarize(after[key], detail)] as const);
  return {
    read_keys: [...(event.reads ?? [])],
    created_keys: created.sort(),
    updated_keys: updated.sort(),
    key_summaries: Object.fromEntries(entries) as { [key: string]: Summary },
  };
}

function isChanged(before: unknown, after: unknown): boolean {
  return before !== after && formatCompact(before) !== formatCompact(after);
}

type Delta = ReturnType<typeof toContextDelta>;

/** Lists of checks that must not be empty get a check of our own if none was given. */
function toAssertions(event: NodeEvent, delta: Delta) {
  const missing =
    event.contextBefore === undefined ? [] : delta.read_keys.filter((key) => !(key in (event.contextBefore ?? {})));
  const keysPresent: Check = {
    code: "required_keys_present",
    result: missing.length === 0 ? "PASS" : "WARN",
    details: { expected_keys: delta.read_keys, missing_keys: missing },
  };
  const writesRealized: Check = {
    code: "context_writes_realized",
    result: "PASS",
    details: { created_keys: delta.created_keys, updated_keys: delta.updated_keys, missing_keys: [] },
  };
  const failure = event.error === undefined ? [] : [toFailure(event.error)];
  return {
    preconditions: (event.preconditions ?? [keysPresent]).map(toCheckFields),
    postconditions: [...failure, ...(event.postconditions ?? [writesRealized])].map(toCheckFields),
    invariants: (event.invariants ?? []).map(toCheckFields),
    environment,
    redaction_policy: {},
    args: {},
    trigger: "dependency",
    upstream_evidence: (event.upstream ?? []).map((id) => ({ node_id: id, state: "completed" })),
  };
}

function toFailure(error: unknown): Check {
  const { type, message } = toErrorFields(error);
  return { code: String(type), result: "FAIL", details: { error: message } };
}

function toCheckFields({ code, result, details }: Check): { [key: string]: PythonValue | undefined } {
  return { code, result, details: details === undefined ? undefined : toTraceValue(details) };
}

function toSummaries(event: NodeEvent, detail: Detail): { [key: string]: Summary } | undefined {
  const summaries: { [key: string]: Summary } = {};
  if (detail.hash || detail.repr) {
    if ("input" in event) summaries["input_data"] = summarize(event.input, detail);
    if ("output" in event) summaries["output_data"] = summarize(event.output, detail);
  }
  if (detail.hash || detail.context) {
    if (event.contextBefore !== undefined) summaries["pre_context"] = summarizeContext(event.contextBefore, detail);
    if (event.contextAfter !== undefined) summaries["post_context"] = summarizeContext(event.contextAfter, detail);
  }
  return Object.keys(summaries).length === 0 ? undefined : summaries;
}

function toWholeMs(ms: number): number {
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0;
}

/** A UUID (version 8, custom) from the node's place and content. */
function toNodeId(node: PlannedNode, index: number): string {
  const digest = sha256(formatCompact([index, node.processor, node.params ?? {}, node.role ?? "processor"]));
  const variant = ((Number.parseInt(digest.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
