// The three tables that Cirron's page documents, as views with exactly its columns, types and nullability:
// string = String, int = Int32, bigint = Int64, float = Float64, bool = Bool, json = String that holds JSON,
// `?` = Nullable. What does not fit a documented type is null here and whole in `spans`, `marks`, `snapshots`.

import { type GroupField, groupLookup } from "./group-lookup.ts";

const valueBytesMax = 256;

/** True when the n-th byte (from 1) of a text goes on with a character that began before it. */
function isContinuation(text: string, n: number): string {
  return `bitAnd(reinterpretAsUInt8(substring(${text}, ${n}, 1)), 192) = 128`;
}

/** At most 256 bytes of a text, never half a character: a character has at most four bytes. */
export function cutSql(text: string): string {
  const cuts: string[] = [];
  for (let bytes = valueBytesMax; bytes > valueBytesMax - 3; bytes--) {
    cuts.push(`NOT (${isContinuation(text, bytes + 1)}), substring(${text}, 1, ${bytes})`);
  }
  return `multiIf(length(${text}) <= ${valueBytesMax}, ${text}, ${cuts.join(", ")}, substring(${text}, 1, ${valueBytesMax - 3}))`;
}

const json = (column: string): string => `nullIf(${column}, '')`;

/** `groups` stands for the living groups with their run, see views.ts. */
export function traceViews(database: string, groups: string): Readonly<Record<string, string>> {
  const group = groupLookup(groups, ["run_id", "workspace", "session_id", "pipeline_id", "deployment_id", "model_id"]);
  const word = (field: GroupField): string => `CAST(${group.of(field)}, 'String')`;
  const wordOrNull = (field: GroupField): string => `CAST(${group.of(field)}, 'Nullable(String)')`;
  const ofMarks = groupLookup(groups, []);
  // A file of its own, as the document has it, or the one of all weights or gradients that real clients write.
  const blobs = `SELECT workspace, span_id, kind, object_key FROM ${database}.blobs FINAL WHERE NOT deleted`;
  return {
    TraceSpan: `${group.with}
SELECT
  f.span_id AS id,
  ${word("session_id")} AS traceId,
  f.parent_id AS parentSpanId,
  CAST(f.name, 'String') AS name,
  accurateCastOrNull(f.index, 'Int32') AS index,
  ${json("f.attrs")} AS attrs,
  f.start_ns AS startNs,
  f.end_ns AS endNs,
  f.cpu_ns AS cpuNs,
  f.gpu_ns AS gpuNs,
  f.memory_peak_bytes AS memoryPeakBytes,
  f.thread_id AS threadId,
  f.rank AS rank,
  ${word("workspace")} AS workspaceId,
  ${wordOrNull("pipeline_id")} AS pipelineId,
  ${word("run_id")} AS runId,
  ${wordOrNull("deployment_id")} AS deploymentId,
  ${wordOrNull("model_id")} AS modelId
FROM ${database}.spans AS f
WHERE ${group.isShown}`,
    TraceMark: `${ofMarks.with}
SELECT
  f.mark_id AS id,
  f.span_id AS spanId,
  CAST(f.name, 'String') AS name,
  CAST(f.value_type, 'String') AS valueType,
  if(f.value_type = 'float', f.value_float, NULL) AS valueFloat,
  if(f.value_type = 'int', f.value_int, NULL) AS valueInt,
  if(f.value_type = 'string', ${cutSql("f.value_string")}, NULL) AS valueString,
  if(f.value_type = 'bool', CAST(f.value_bool, 'Nullable(Bool)'), NULL) AS valueBool,
  ${json("f.attrs")} AS attrs,
  f.ts_ns AS tsNs,
  CAST(f.kind, 'String') AS kind
FROM ${database}.marks AS f
WHERE ${ofMarks.isShown}`,
    TraceSnapshot: `SELECT
  f.snapshot_id AS id,
  f.span_id AS spanId,
  CAST(f.tensor_name, 'String') AS tensorName,
  f.shape AS shape,
  CAST(f.dtype, 'String') AS dtype,
  CAST(f.mode, 'String') AS mode,
  ${json("f.stats")} AS stats,
  if(f.mode = 'stats', NULL, coalesce(nullIf(o.object_key, ''), nullIf(b.object_key, ''), f.blob_uri)) AS blobUri
FROM ${database}.snapshots AS f
INNER JOIN (${groups}) AS g ON g.group_key = f.group_key
LEFT JOIN (${blobs}) AS o ON o.workspace = g.workspace AND o.span_id = f.span_id AND o.kind = f.snapshot_id
LEFT JOIN (${blobs}) AS b
  ON b.workspace = g.workspace AND b.span_id = f.span_id
  AND b.kind = if(endsWith(f.tensor_name, '.grad'), 'gradients', 'weights')
WHERE f.received_ns > g.deleted_ns`,
  };
}
