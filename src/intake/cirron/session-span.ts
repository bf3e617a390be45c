// The `cirron.session` span: what it says about its process.

import { parseJson } from "#base/json/parse.ts";
import type { Rows } from "#model/tables.ts";
import type { Component } from "./component.ts";

export function noteSessionSpan(component: Component, spans: Rows<"spans">, row: number): void {
  const id = spans.span_id.at(row);
  const attrs = attrsOf(spans, row);
  component.sessions.set(id, {
    id,
    startNs: spans.start_ns.at(row),
    endNs: spans.end_ns.at(row),
    runId: textOf(attrs["cirron.run_id"]),
    pipelineId: textOf(attrs["cirron.pipeline_id"]),
    deploymentId: textOf(attrs["cirron.deployment_id"]),
    modelId: textOf(attrs["cirron.model_id"]),
  });
}

function attrsOf(spans: Rows<"spans">, row: number): Record<string, unknown> {
  const parsed = parseJson(spans.attrs.bytesAt(row));
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value)
    ? (parsed.value as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return value === "" ? null : value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : null;
}
