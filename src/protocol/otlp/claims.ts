// `/v1/traces` is the path of two protocols. Whose request one is, its headers say first; JSON without such headers is
// told by its first known key.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { toJsonFault } from "#base/json/value.ts";
import type { RequestHead } from "#protocol/protocol.ts";
import { isOtlpProtobuf } from "#wire/cirron/otlp.ts";
import type { Encoding } from "#wire/otlp/reply.ts";

/** Headers that only the SDK of the other protocol on this path sends. */
const otherHeaders = ["x-cirron-batch-id", "x-cirron-sdk-version"] as const;
const otherKeys: ReadonlySet<string> = new Set(["batch_id", "spans", "schema_version"]);
const ownKey = "resourceSpans";
const ownWord = `"${ownKey}"`;

export function claimsTraces({ headers, body }: RequestHead): boolean {
  if (otherHeaders.some((name) => headers[name] !== undefined)) return false;
  const type = mediaOf(headers["content-type"]);
  if (type === "protobuf") return true;
  return isObject(body) ? hasOwnKey(body) : type === null && isOtlpProtobuf(body);
}

/** How a request is written: as its type says, else as it looks. No request in protobuf looks like an object. */
export function encodingOf({ headers, body }: RequestHead): Encoding {
  return isObject(body) ? "json" : (mediaOf(headers["content-type"]) ?? "protobuf");
}

function mediaOf(header: string | string[] | undefined): Encoding | null {
  const type = String(header ?? "").toLowerCase();
  if (/^application\/(?:x-)?protobuf\b/.test(type)) return "protobuf";
  return /^application\/json\b/.test(type) ? "json" : null;
}

function isObject(body: Uint8Array): boolean {
  const first = body.find((byte) => byte > 0x20);
  return first === 0x7b;
}

/** What is looked through here is looked through at once. */
const lookedAtBytes = 64 * 1024;

/**
 * The first known key decides; an empty object is an empty request. What begins with a large member that nobody knows is
 * told by whether it has the word at all.
 */
function hasOwnKey(body: Uint8Array): boolean {
  try {
    const cursor = new JsonCursor(body, 0, Math.min(body.length, lookedAtBytes));
    if (cursor.peek() !== jsonKind.object) return false;
    let isEmpty = true;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      isEmpty = false;
      const key = cursor.text();
      if (key === ownKey) return true;
      if (otherKeys.has(key)) return false;
      cursor.skipValue();
    }
    return isEmpty;
  } catch (error) {
    toJsonFault(error);
    return body.length > lookedAtBytes && Buffer.from(body.buffer, body.byteOffset, body.length).includes(ownWord);
  }
}
