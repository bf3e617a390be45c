// Frames as a worker sends them, of any type and payload.

import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";
import { encodePayload } from "./encode.ts";

interface FrameMeta {
  readonly seq: number | bigint;
  /** Microseconds since the epoch by the worker's own clock. */
  readonly ts: number | bigint;
  readonly wid?: string;
}

/** Fields that are undefined are left out. */
export function encodeFrame(t: string, meta: FrameMeta, payload: object): Uint8Array {
  return encodeEnvelope({ v: 1, t, m: withoutAbsent(meta), p: withoutAbsent(payload) });
}

/** Numbers beyond what JSON allows are written as Python writes them; 64-bit integers keep all their digits. */
export function encodeEnvelope(envelope: JsonValue): Uint8Array {
  return encodePayload(new TextEncoder().encode(formatJson(envelope, "lossless")));
}

function withoutAbsent(fields: object): JsonValue {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonValue;
}
