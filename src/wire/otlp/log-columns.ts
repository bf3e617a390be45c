// Log records → rows. What has no column is in `extra`:
//
//   {"trace_id":"…","span_id":"…","flags":1,"severity_number":9,"severity_text":"INFO","observed_ns":"…",
//    "no_time":true,"event_name":"…","body":"json" | "none","dropped_attributes":1}

import { UInt32Column } from "#base/columns.ts";
import { formatJson } from "#base/json/format.ts";
import type { JsonObject } from "#base/json/value.ts";
import { createRows, type Rows } from "#model/tables.ts";
import { formatAttributes, hasUnknown, toAttributes, toValue } from "./attribute-values.ts";
import { ContentIds, toNumber } from "./identity.ts";
import { type AttributeRole, stepOf } from "./meaning.ts";
import { decodeMessage, type Message } from "./message.ts";
import type { Origin } from "./origin.ts";
import type { ProtoReader } from "./protobuf.ts";
import { logRecord } from "./schema.ts";

/** By severity number, four numbers each: TRACE, DEBUG, INFO, WARN, ERROR, FATAL. */
const levels = ["debug", "debug", "info", "warning", "error", "critical"] as const;

const timeMax = 2n ** 63n;

export class LogColumns {
  readonly rows: Rows<"logs"> = createRows("logs");
  readonly origin: UInt32Column = new UInt32Column();
  private readonly ids = new ContentIds();
  private readonly roleOf: (name: string) => AttributeRole;

  constructor(roleOf: (name: string) => AttributeRole) {
    this.roleOf = roleOf;
  }

  get length(): number {
    return this.origin.length;
  }

  take(reader: ProtoReader, from: number, to: number, origin: Origin, originAt: number): string | null {
    const bytes = reader.bytes.subarray(from, to);
    const decoded = decodeMessage(logRecord, bytes);
    if (decoded === null) return "a log record is no protobuf, nested too deep or of too many values";
    const { message } = decoded;
    const timeNs = (message["timeUnixNano"] ?? 0n) as bigint;
    const observedNs = (message["observedTimeUnixNano"] ?? 0n) as bigint;
    if (timeNs >= timeMax || observedNs >= timeMax) return "a log record is of a time after the year 2262";
    const attributes = toAttributes(message["attributes"]);
    const body = toBody(message["body"] as Message | undefined);
    const fields = message["attributes"] === undefined ? "" : formatAttributes(attributes);
    const extra = formatJson(toExtra(message, body.form), "strict");
    const isOdd = !decoded.isExact || hasUnknown(message) || attributes.isOdd || body.isOdd;
    const raw = isOdd ? Buffer.from(bytes).toString("base64") : "";
    const { rows } = this;
    this.origin.push(originAt);
    rows.worker.push(origin.worker);
    rows.ts_ns.pushBigInt(timeNs === 0n ? observedNs : timeNs);
    rows.seq.pushBigInt(toNumber(this.ids.of(origin.id, String(timeNs), body.text, fields, extra, raw)));
    rows.level.push(levelOf(message));
    rows.logger.push(origin.scopeName);
    rows.msg.push(body.text);
    const step = stepOf(attributes.values, this.roleOf);
    if (step === null) rows.step.pushNull();
    else rows.step.present().pushBigInt(step);
    rows.fields.push(fields);
    rows.origin.push(origin.payload);
    rows.extra.push(extra);
    rows.raw.push(raw);
    return null;
  }
}

function toBody(body: Message | undefined): { text: string; form: "text" | "json" | "none"; isOdd: boolean } {
  if (body === undefined) return { text: "", form: "none", isOdd: false };
  const { value, isOdd } = toValue(body);
  if (typeof value === "string" && body["stringValue"] !== undefined) return { text: value, form: "text", isOdd };
  return { text: formatJson(value, "strict"), form: "json", isOdd };
}

function toExtra(message: Message, body: "text" | "json" | "none"): JsonObject {
  const extra: JsonObject = {};
  for (const [name, member] of [
    ["trace_id", "traceId"],
    ["span_id", "spanId"],
  ] as const) {
    const id = message[member] as Uint8Array | undefined;
    if (id !== undefined && id.length > 0) extra[name] = Buffer.from(id).toString("hex");
  }
  for (const [name, member] of [
    ["flags", "flags"],
    ["severity_number", "severityNumber"],
    ["severity_text", "severityText"],
    ["event_name", "eventName"],
    ["dropped_attributes", "droppedAttributesCount"],
  ] as const) {
    const value = message[member] as number | string | undefined;
    if (value !== undefined && value !== 0 && value !== "") extra[name] = value;
  }
  const observedNs = message["observedTimeUnixNano"];
  if (observedNs !== undefined && observedNs !== 0n) extra["observed_ns"] = String(observedNs);
  if ((message["timeUnixNano"] ?? 0n) === 0n) extra["no_time"] = true;
  if (body !== "text") extra["body"] = body;
  return extra;
}

function levelOf(message: Message): string {
  const number = (message["severityNumber"] ?? 0) as number;
  const level = number < 1 ? undefined : levels[Math.ceil(number / 4) - 1];
  return level ?? (((message["severityText"] ?? "") as string).toLowerCase() || "info");
}
