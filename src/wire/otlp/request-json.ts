// A request in protobuf → its JSON form.

import { formatMessage } from "./json-message.ts";
import { decodeMessage, type FieldValue, type Message, unknownFields } from "./message.ts";
import { type Signal, signals } from "./schema.ts";

/** Null when something in it cannot be said in JSON: a field that OTLP does not have yet, or text that is no UTF-8. */
export function toRequestJson(signal: Signal, body: Uint8Array): string | null {
  const { request } = signals[signal];
  const decoded = decodeMessage(request, body);
  if (decoded === null || !decoded.isExact || hasUnknownFields(decoded.message)) return null;
  return formatMessage(request, decoded.message);
}

/** As much of a request as JSON can say. */
export function toNearestJson(signal: Signal, body: Uint8Array): string {
  const { request } = signals[signal];
  return formatMessage(request, decodeMessage(request, body)?.message ?? {});
}

function hasUnknownFields(value: FieldValue): boolean {
  if (Array.isArray(value)) return value.some(hasUnknownFields);
  if (typeof value !== "object" || value instanceof Uint8Array) return false;
  return Object.entries(value as Message).some(([name, member]) => name === unknownFields || hasUnknownFields(member));
}
