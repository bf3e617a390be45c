// One record → its rows: SER lines become `nodes`, all others `events`. What aggregation needs of the lifecycle lines is also
// in the narrow table `lifecycle`, and the context of a run also in `params`. When and where the record arrived is filled in
// later.

import type { ByteWriter } from "#base/byte-writer.ts";
import type { Int64Column, NullableColumn } from "#base/columns.ts";
import { formatSorted, type OnMember } from "#base/json/format-sorted.ts";
import { lossyOddities, rewriteStrict } from "#base/json/strict.ts";
import { isJsonObject, type JsonObject } from "#base/json/value.ts";
import { parseRfc3339Ns } from "#base/rfc3339.ts";
import { rowFlags } from "#model/row-flags.ts";
import type { Rows } from "#model/tables.ts";
import type { TakenLine } from "#wire/semantiva/decode-lines.ts";
import { intAt, integerAt, listAt, objectAt, textAt } from "./fields.ts";
import type { Keys } from "./keys.ts";

const noBytes = new Uint8Array(0);

export function pushNode(rows: Rows<"nodes">, line: TakenLine, keys: Keys): void {
  const { record } = line.message;
  const stored = new StoredText();
  const text = (object: JsonObject | undefined, key: string) => stored.of(textAt(object, key) ?? "");
  const identity = objectAt(record, "identity");
  const timing = objectAt(record, "timing");
  rows.group_key.push(stored.of(keys.groupKey));
  rows.node_id.push(text(identity, "node_id"));
  rows.pipeline_id.push(text(identity, "pipeline_id"));
  rows.status.push(text(record, "status"));
  rows.start_ns.pushBigInt(nsAt(timing, "started_at"));
  rows.end_ns.pushBigInt(nsAt(timing, "finished_at"));
  rows.started_at.push(text(timing, "started_at"));
  rows.finished_at.push(text(timing, "finished_at"));
  pushInt(rows.wall_ms, timing, "wall_ms");
  pushInt(rows.cpu_ms, timing, "cpu_ms");
  rows.processor.push(text(objectAt(record, "processor"), "ref"));
  for (const upstream of listAt(objectAt(record, "dependencies"), "upstream")) {
    if (typeof upstream === "string") rows.upstream.items.push(stored.of(upstream));
  }
  rows.upstream.finishRow();
  pushInt(rows.seq, record, "seq");
  const timestamp = textAt(record, "timestamp");
  if (timestamp === undefined) rows.timestamp.pushNull();
  else rows.timestamp.present().push(stored.of(timestamp));
  rows.event_id.push(toEventId(line));
  pushLine(rows, line);
  rows.jrow.push(line.at);
  rows.flags.push(stored.flags);
  rows.extra.push("");
}

export function pushEvent(rows: Rows<"events">, line: TakenLine, keys: Keys): void {
  const { record, type, known } = line.message;
  const stored = new StoredText();
  rows.group_key.push(stored.of(keys.groupKey));
  rows.protocol.push("semantiva");
  rows.type.push(stored.of(type));
  rows.worker.push("");
  rows.ts_ns.pushBigInt(nsAt(record, "timestamp"));
  rows.seq.pushBigInt(intAt(record, "seq") ?? 0n);
  rows.event_id.push(toEventId(line));
  pushLine(rows, line);
  rows.jrow.push(line.at);
  rows.flags.push(stored.flags | (known ? 0 : rowFlags.unknown_type));
  rows.extra.push("");
}

/**
 * The context of a run, sorted so that equal contexts are equal texts; null when the line has none. The text is a view of
 * `scratch`.
 */
export function* readContext(
  { message }: TakenLine,
  scratch: ByteWriter,
  onMember?: OnMember,
): Generator<void, Uint8Array | null> {
  const context = objectAt(message.record, "run_space_context");
  return context === undefined ? null : yield* formatSorted(context, scratch, onMember);
}

export function pushLifecycle(rows: Rows<"lifecycle">, line: TakenLine, keys: Keys, context: Uint8Array | null): void {
  const { record, type } = line.message;
  const stored = new StoredText();
  const text = (object: JsonObject | undefined, key: string) => stored.of(textAt(object, key) ?? "");
  const meta = objectAt(record, "meta");
  rows.group_key.push(stored.of(keys.groupKey));
  rows.type.push(type);
  rows.run_id.push(stored.of(keys.runId));
  rows.launch_key.push(stored.of(keys.launchKey));
  rows.launch_id.push(text(record, "run_space_launch_id"));
  pushInt(rows.attempt, record, "run_space_attempt");
  pushInt(rows.run_index, record, "run_space_index");
  rows.context.pushBytes(context ?? noBytes);
  rows.pipeline_id.push(text(record, "pipeline_id"));
  rows.semantic_id.push(text(meta, "semantic_id"));
  rows.config_id.push(text(meta, "config_id"));
  for (const node of listAt(objectAt(record, "pipeline_spec_canonical"), "nodes")) {
    const nodeId = isJsonObject(node) ? textAt(node, "node_uuid") : undefined;
    if (nodeId !== undefined) rows.expected.items.push(stored.of(nodeId));
  }
  rows.expected.finishRow();
  rows.outcome.push(text(objectAt(record, "summary"), "status"));
  pushInt(rows.planned_runs, record, "run_space_planned_run_count");
  pushInt(rows.total_runs, record, "run_space_total_runs");
  rows.timestamp.push(text(record, "timestamp"));
  rows.ts_ns.pushBigInt(nsAt(record, "timestamp"));
  pushInt(rows.seq, record, "seq");
  rows.event_id.push(toEventId(line));
  rows.jrow.push(line.at);
}

/** Takes the members of the context one by one as params, so that runs can be found, sorted and compared by them. */
export function toParams(rows: Rows<"params">, line: TakenLine, keys: Keys): OnMember {
  const tsNs = nsAt(line.message.record, "timestamp");
  return (name, value, text, from, to) => {
    const stored = new StoredText();
    rows.group_key.push(stored.of(keys.groupKey));
    rows.name.push(stored.of(name));
    rows.worker.push("");
    rows.key.push(stored.of(name));
    rows.nested_key.push("");
    rows.value.pushBytes(text, from, to);
    const isNumber = typeof value === "number" || typeof value === "bigint";
    if (isNumber) rows.value_num.present().push(Number(value));
    else rows.value_num.pushNull();
    rows.ts_ns.pushBigInt(tsNs);
    rows.seq.pushNumber(-1);
    rows.jrow.push(line.at);
    rows.flags.push(stored.flags);
    rows.extra.push("");
    rows.raw.push("");
  };
}

/** The line itself is the payload. If it is not strict JSON, `raw` has the line, and `payload` its strict form. */
function pushLine(rows: Rows<"events"> | Rows<"nodes">, { bytes, message }: TakenLine): void {
  const lossy = (message.oddities & lossyOddities) !== 0;
  rows.payload.pushBytes(lossy ? rewriteStrict(bytes, 0, bytes.length) : bytes);
  if (lossy) rows.raw.pushBytes(bytes);
  else rows.raw.push("");
}

function toEventId({ digest }: TakenLine): string {
  return digest.slice(0, 32);
}

function pushInt(column: NullableColumn<Int64Column>, object: JsonObject | undefined, key: string): void {
  const value = integerAt(object, key);
  if (value === undefined) column.pushNull();
  else if (typeof value === "number") column.present().pushNumber(value);
  else column.present().pushBigInt(value);
}

/** Times outside what 64 bits of nanoseconds hold (years 1678 to 2262) read as 0, like texts that are no time. */
function nsAt(object: JsonObject | undefined, key: string): bigint {
  const ns = parseRfc3339Ns(textAt(object, key) ?? "");
  return ns !== undefined && BigInt.asIntN(64, ns) === ns ? ns : 0n;
}

// UTF-8 cannot hold half a surrogate pair. Such text is stored in its JSON-escaped form, and its row is flagged.

/** Collects the flag while the columns of one row are filled. */
class StoredText {
  flags = 0;

  of(text: string): string {
    if (text.isWellFormed()) return text;
    this.flags |= rowFlags.escaped_text;
    return JSON.stringify(text).slice(1, -1);
  }
}
