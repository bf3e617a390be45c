// Stored rows → the messages that came, equal in every value: from the kept bytes, otherwise from columns and `extra`. With
// pauses, because a record may have hundreds of thousands of values.

import { itemsInSteps, membersInSteps, membersOf } from "#base/json/members.ts";
import { parseJson } from "#base/json/parse.ts";
import { parseAttributesInSteps, parseValueInSteps } from "./attribute-values.ts";
import { fromJson } from "./json-message.ts";
import { decodeMessage, type Message } from "./message.ts";
import { logRecord, type MessageType, type MetricKind, metric, pointTypes, span } from "./schema.ts";

export interface StoredSpan {
  readonly span_id: string;
  readonly parent_id: string | null;
  readonly name: string;
  readonly start_ns: string;
  readonly end_ns: string;
  readonly attrs: string;
  readonly extra: string;
  /** Base64 of its bytes, '' when they were not kept. */
  readonly raw: string;
}

export interface StoredLog {
  readonly ts_ns: string;
  readonly msg: string;
  readonly fields: string;
  readonly extra: string;
  readonly raw: string;
}

export function* rebuildSpan(row: StoredSpan): Generator<void, Message> {
  const kept = fromRaw(span, row.raw);
  if (kept !== null) return kept;
  const extra = yield* membersInSteps(row.extra);
  const message: Message = {
    traceId: toId(extra.get("trace_id")),
    spanId: Buffer.from(row.span_id, "hex"),
    name: row.name,
    startTimeUnixNano: BigInt(row.start_ns),
    endTimeUnixNano: BigInt(row.end_ns),
  };
  if (row.parent_id !== null) message["parentSpanId"] = Buffer.from(row.parent_id, "hex");
  setText(message, "traceState", extra.get("trace_state"));
  setNumber(message, "kind", extra.get("kind"));
  setNumber(message, "flags", extra.get("flags"));
  yield* setAttributes(message, "attributes", row.attrs);
  setNumber(message, "droppedAttributesCount", extra.get("dropped_attributes"));
  setNumber(message, "droppedEventsCount", extra.get("dropped_events"));
  setNumber(message, "droppedLinksCount", extra.get("dropped_links"));
  yield* setItems(message, "events", extra.get("events"), toEvent);
  yield* setItems(message, "links", extra.get("links"), toLink);
  const status = extra.get("status");
  if (status !== undefined) message["status"] = toStatus(membersOf(status));
  return message;
}

function* toEvent(text: string): Generator<void, Message> {
  const members = membersOf(text);
  const message: Message = { timeUnixNano: BigInt(textOf(members.get("time_ns")) || "0") };
  setText(message, "name", members.get("name"));
  yield* setAttributes(message, "attributes", members.get("attributes") ?? "");
  setNumber(message, "droppedAttributesCount", members.get("dropped_attributes"));
  return message;
}

function* toLink(text: string): Generator<void, Message> {
  const members = membersOf(text);
  const message: Message = { traceId: toId(members.get("trace_id")), spanId: toId(members.get("span_id")) };
  setText(message, "traceState", members.get("trace_state"));
  yield* setAttributes(message, "attributes", members.get("attributes") ?? "");
  setNumber(message, "droppedAttributesCount", members.get("dropped_attributes"));
  setNumber(message, "flags", members.get("flags"));
  return message;
}

function toStatus(members: ReadonlyMap<string, string>): Message {
  const message: Message = {};
  setText(message, "message", members.get("message"));
  setNumber(message, "code", members.get("code"));
  return message;
}

export function* rebuildLog(row: StoredLog): Generator<void, Message> {
  const kept = fromRaw(logRecord, row.raw);
  if (kept !== null) return kept;
  const extra = yield* membersInSteps(row.extra === "" ? "{}" : row.extra);
  const message: Message = {};
  if (extra.get("no_time") === undefined) message["timeUnixNano"] = BigInt(row.ts_ns);
  const observedNs = textOf(extra.get("observed_ns"));
  if (observedNs !== "") message["observedTimeUnixNano"] = BigInt(observedNs);
  setNumber(message, "severityNumber", extra.get("severity_number"));
  setText(message, "severityText", extra.get("severity_text"));
  const body = textOf(extra.get("body"));
  if (body !== "none") message["body"] = body === "json" ? yield* parseValueInSteps(row.msg) : { stringValue: row.msg };
  yield* setAttributes(message, "attributes", row.fields);
  setNumber(message, "droppedAttributesCount", extra.get("dropped_attributes"));
  setNumber(message, "flags", extra.get("flags"));
  for (const [name, member] of [
    ["traceId", "trace_id"],
    ["spanId", "span_id"],
  ] as const)
    if (extra.get(member) !== undefined) message[name] = toId(extra.get(member));
  setText(message, "eventName", extra.get("event_name"));
  return message;
}

/** A metric with one point, from a row of `events`. */
export function* rebuildMetric(payload: string, raw: string): Generator<void, Message> {
  const kept = fromRaw(metric, raw);
  if (kept !== null) return kept;
  const members = yield* membersInSteps(payload);
  const kind = textOf(members.get("kind")) as MetricKind;
  const parsed = parseJson(members.get("point") ?? "{}");
  const point = fromJson(pointTypes[kind], parsed.ok ? parsed.value : {});
  yield* setAttributes(point, "attributes", members.get("attributes") ?? "");
  const data: Message = { dataPoints: [point] };
  setNumber(data, "aggregationTemporality", members.get("temporality"));
  if (members.get("monotonic") === "true") data["isMonotonic"] = true;
  const message: Message = { [kind]: data };
  setText(message, "name", members.get("name"));
  setText(message, "unit", members.get("unit"));
  setText(message, "description", members.get("description"));
  yield* setAttributes(message, "metadata", members.get("metadata") ?? "");
  return message;
}

function fromRaw(type: MessageType, raw: string): Message | null {
  return raw === "" ? null : (decodeMessage(type, Buffer.from(raw, "base64"))?.message ?? null);
}

/** The bytes of a record that has a text which is not UTF-8, so that no message holds it exactly; null for any other record. */
export function inexactBytes(type: MessageType, raw: string): Uint8Array | null {
  if (raw === "") return null;
  const bytes = Buffer.from(raw, "base64");
  return decodeMessage(type, bytes)?.isExact === false ? bytes : null;
}

const pauseItems = 64;

function* setItems(
  message: Message,
  name: string,
  text: string | undefined,
  toItem: (text: string) => Generator<void, Message>,
): Generator<void, void> {
  if (text === undefined) return;
  const items: Message[] = [];
  for (const item of yield* itemsInSteps(text)) {
    if (items.length % pauseItems === pauseItems - 1) yield;
    items.push(yield* toItem(item));
  }
  if (items.length > 0) message[name] = items;
}

function textOf(text: string | undefined): string {
  return text === undefined ? "" : (JSON.parse(text) as string);
}

function toId(text: string | undefined): Uint8Array {
  return Buffer.from(textOf(text), "hex");
}

function setText(message: Message, name: string, text: string | undefined): void {
  const value = textOf(text);
  if (value !== "") message[name] = value;
}

function setNumber(message: Message, name: string, text: string | undefined): void {
  if (text !== undefined) message[name] = Number(text);
}

function* setAttributes(message: Message, name: string, text: string): Generator<void, void> {
  const list = yield* parseAttributesInSteps(text);
  if (list.length > 0) message[name] = list;
}
