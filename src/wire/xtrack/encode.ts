// A frame: a 4-byte big-endian length, and compact JSON in UTF-8 without a newline.

import { prefixBytes } from "./resync.ts";

/** Puts the length before a payload that is JSON text already. */
export function encodePayload(json: Uint8Array): Uint8Array {
  const frame = new Uint8Array(prefixBytes + json.length);
  new DataView(frame.buffer).setUint32(0, json.length);
  frame.set(json, prefixBytes);
  return frame;
}
