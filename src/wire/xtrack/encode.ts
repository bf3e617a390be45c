// Messages to frames: a 4-byte big-endian length and compact JSON in UTF-8, without a newline.
// Numbers beyond what JSON allows are written as Python writes them (NaN, Infinity, -Infinity), because that is what
// the existing clients send and read; 64-bit integers keep all their digits.

import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";
import { type EventMeta, type MessageType, type Payloads, protocolVersion } from "./messages.ts";
import { prefixBytes } from "./resync.ts";

const textEncoder = new TextEncoder();

export function encodeFrame<T extends MessageType>(type: T, meta: EventMeta, payload: Payloads[T]): Uint8Array {
  return encodeEnvelope(toEnvelope(type, meta, payload as unknown as Fields));
}

/** Any envelope, for messages this version has no type for. */
export function encodeEnvelope(envelope: JsonValue): Uint8Array {
  return encodePayload(textEncoder.encode(formatJson(envelope, "lossless")));
}

/** Puts the length before a payload that is JSON text already. */
export function encodePayload(json: Uint8Array): Uint8Array {
  const frame = new Uint8Array(prefixBytes + json.length);
  new DataView(frame.buffer).setUint32(0, json.length);
  frame.set(json, prefixBytes);
  return frame;
}

type Fields = { readonly [field: string]: JsonValue | undefined };

function toEnvelope(type: string, meta: EventMeta, payload: Fields): JsonValue {
  const m: { [field: string]: JsonValue } = { seq: meta.seq, ts: meta.ts };
  if (meta.wid !== undefined && meta.wid !== "") m["wid"] = meta.wid;
  return { v: protocolVersion, t: type, m, p: withoutAbsent(payload) };
}

/** An optional field that is undefined is left out, also inside objects such as ctx and progress. */
function withoutAbsent(fields: Fields): { [field: string]: JsonValue } {
  const present: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    present.push([name, isPlainObject(value) ? withoutAbsent(value) : value]);
  }
  return Object.fromEntries(present);
}

function isPlainObject(value: JsonValue): value is { [field: string]: JsonValue } {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
