// The `cirron.session` span: what it says about its process.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeText } from "#base/json/text.ts";
import type { JsonValue } from "#base/json/value.ts";
import type { Rows } from "#model/tables.ts";
import type { Component } from "./component.ts";

export function noteSessionSpan(component: Component, spans: Rows<"spans">, row: number): void {
  const id = spans.span_id.at(row);
  const attrs = attrsOf(spans, row);
  component.sessions.set(id, {
    id,
    startNs: spans.start_ns.at(row),
    endNs: spans.end_ns.at(row),
    runId: textOf(attrs.get("cirron.run_id")),
    pipelineId: textOf(attrs.get("cirron.pipeline_id")),
    deploymentId: textOf(attrs.get("cirron.deployment_id")),
    modelId: textOf(attrs.get("cirron.model_id")),
  });
}

const ownNames = new Set(["run_id", "pipeline_id", "deployment_id", "model_id"].map((name) => `cirron.${name}`));

/** Only those that are asked for become values: a process may say megabytes of itself. */
function attrsOf(spans: Rows<"spans">, row: number): Map<string, JsonValue> {
  const attrs = new Map<string, JsonValue>();
  const cursor = new JsonCursor(spans.attrs.bytesAt(row));
  if (cursor.peek() !== jsonKind.object) return attrs;
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const name = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    cursor.skipBlanks();
    const from = cursor.pos;
    cursor.skipValue();
    const parsed = ownNames.has(name) ? parseJson(cursor.bytes.subarray(from, cursor.pos)) : null;
    if (parsed?.ok) attrs.set(name, parsed.value);
  }
  return attrs;
}

function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return value === "" ? null : value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : null;
}
