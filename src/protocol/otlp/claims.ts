// `/v1/traces` is the path of two protocols. The headers decide first whose request it is; for JSON without such headers, its
// first known key does.

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

/** The encoding of a request: JSON if the body looks like an object, which no protobuf request does, else by its content type. */
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

/** This much is looked at without a pause. */
const lookedAtBytes = 64 * 1024;

/**
 * The first known key decides; an empty object is an empty request. If the body begins with a large unknown member, it counts
 * whether our key occurs anywhere in it.
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
