// Where records come from: a resource and a scope of instrumentation. A request names them once for many records, and a
// process always sends the same ones, so they are read once, and all rows share one text of them.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { formatJson } from "#base/json/format.ts";
import { membersOf } from "#base/json/members.ts";
import { parseJson } from "#base/json/parse.ts";
import { isJsonObject, type JsonObject } from "#base/json/value.ts";
import { hasUnknown, parseAttributes, toAttributes } from "./attribute-values.ts";
import { type Sender, senderOf } from "./meaning.ts";
import { decodeMessage, encodeMessage, type Message } from "./message.ts";
import { ProtoWriter } from "./proto-writer.ts";
import { ProtoReader } from "./protobuf.ts";
import { resource as resourceType, scope as scopeType } from "./schema.ts";

/** Protobuf of a resource, a scope and the URLs of their schemas, as in the request. */
export interface OriginBytes {
  readonly resource: Uint8Array;
  readonly resourceUrl: Uint8Array;
  readonly scope: Uint8Array;
  readonly scopeUrl: Uint8Array;
}

export function isSameOrigin(a: OriginBytes, b: OriginBytes): boolean {
  return (
    a === b ||
    (Buffer.compare(a.resource, b.resource) === 0 &&
      Buffer.compare(a.scope, b.scope) === 0 &&
      Buffer.compare(a.resourceUrl, b.resourceUrl) === 0 &&
      Buffer.compare(a.scopeUrl, b.scopeUrl) === 0)
  );
}

export interface Origin extends Sender {
  /** 32 hex digits: a hash of its content. */
  readonly id: string;
  /** All of it as JSON, with attributes as an object. If the JSON is not exact, its member `raw` has the protobuf. */
  readonly payload: string;
  readonly resource: JsonObject;
  readonly scopeName: string;
}

/** Live processes have few origins. A sender that makes up new or large ones only has them read again. */
const keptMax = 1000;
const keptCharsMax = 16 * 1024 * 1024;
let kept = new Map<string, Origin>();
let keptChars = 0;

/** Null when the resource or the scope is not a message. */
export function readOrigin(bytes: OriginBytes): Origin | null {
  const parts = [bytes.resource, bytes.resourceUrl, bytes.scope, bytes.scopeUrl];
  const key = parts.map((part) => `${part.length}:${Buffer.from(part).toString("latin1")}`).join("");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = makeOrigin(bytes);
  if (made === null) return null;
  keptChars += key.length + made.payload.length;
  if (kept.size >= keptMax || keptChars > keptCharsMax) {
    kept = new Map();
    keptChars = key.length + made.payload.length;
  }
  kept.set(key, made);
  return made;
}

function makeOrigin({ resource, resourceUrl, scope, scopeUrl }: OriginBytes): Origin | null {
  const ofResource = decodeMessage(resourceType, resource);
  const ofScope = decodeMessage(scopeType, scope);
  if (ofResource === null || ofScope === null) return null;
  const attributes = toAttributes(ofResource.message["attributes"]);
  const scopeAttributes = toAttributes(ofScope.message["attributes"]);
  const isOdd =
    [ofResource, ofScope].some(({ message, isExact }) => !isExact || hasUnknown(message)) ||
    [resourceUrl, scopeUrl].some((url) => !isUtf8(url)) ||
    attributes.isOdd ||
    scopeAttributes.isOdd ||
    ofResource.message["entityRefs"] !== undefined;
  const payload = formatJson(
    {
      resource: attributes.values,
      ...countOf("resource_dropped_attributes", ofResource.message),
      ...textMember("resource_schema_url", resourceUrl),
      ...(scope.length === 0 ? {} : { scope: toScope(ofScope.message, scopeAttributes.values) }),
      ...textMember("scope_schema_url", scopeUrl),
      ...(isOdd ? { raw: encodeParts(resource, scope, resourceUrl, scopeUrl) } : {}),
    },
    "strict",
  );
  return {
    id: createHash("sha256").update(payload).digest("hex").slice(0, 32),
    payload,
    resource: attributes.values,
    scopeName: (ofScope.message["name"] ?? "") as string,
    ...senderOf(attributes.values),
  };
}

function toScope(message: Message, attributes: JsonObject): JsonObject {
  return {
    ...(message["name"] === undefined ? {} : { name: message["name"] as string }),
    ...(message["version"] === undefined ? {} : { version: message["version"] as string }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    ...countOf("dropped_attributes", message),
  };
}

function countOf(name: string, message: Message): JsonObject {
  const count = message["droppedAttributesCount"];
  return count === undefined || count === 0 ? {} : { [name]: count as number };
}

function textMember(name: string, bytes: Uint8Array): JsonObject {
  return bytes.length === 0 ? {} : { [name]: Buffer.from(bytes).toString() };
}

/** Base64 of the parts as one message of four fields. */
function encodeParts(...parts: readonly Uint8Array[]): string {
  const out = new ProtoWriter();
  for (const [at, part] of parts.entries()) if (part.length > 0) out.bytes(at + 1, part);
  return Buffer.from(out.finish()).toString("base64");
}

export const noOrigin: OriginBytes = {
  resource: new Uint8Array(0),
  resourceUrl: new Uint8Array(0),
  scope: new Uint8Array(0),
  scopeUrl: new Uint8Array(0),
};

/** The origin that a stored payload stands for. */
export function encodeOrigin(payload: string): OriginBytes {
  const parsed = parseJson(payload);
  if (!parsed.ok || !isJsonObject(parsed.value)) return noOrigin;
  const stored = parsed.value as StoredOrigin;
  if (stored.raw !== undefined) return decodeParts(Buffer.from(stored.raw, "base64"));
  const members = membersOf(payload);
  const resource = {
    attributes: parseAttributes(members.get("resource") ?? "{}"),
    droppedAttributesCount: stored.resource_dropped_attributes ?? 0,
  };
  return {
    resource: encodeMessage(resourceType, resource),
    resourceUrl: Buffer.from(stored.resource_schema_url ?? ""),
    scope: stored.scope === undefined ? noOrigin.scope : encodeScope(stored.scope, members.get("scope") ?? "{}"),
    scopeUrl: Buffer.from(stored.scope_schema_url ?? ""),
  };
}

interface StoredScope {
  readonly name?: string;
  readonly version?: string;
  readonly dropped_attributes?: number;
}

interface StoredOrigin {
  readonly raw?: string;
  readonly resource_dropped_attributes?: number;
  readonly resource_schema_url?: string;
  readonly scope?: StoredScope;
  readonly scope_schema_url?: string;
}

function encodeScope(
  { name = "", version = "", dropped_attributes: dropped = 0 }: StoredScope,
  text: string,
): Uint8Array {
  const attributes = parseAttributes(membersOf(text).get("attributes") ?? "{}");
  return encodeMessage(scopeType, { name, version, attributes, droppedAttributesCount: dropped });
}

function decodeParts(bytes: Uint8Array): OriginBytes {
  const reader = new ProtoReader(bytes);
  const parts = new Map<number, Uint8Array>();
  while (reader.next(bytes.length)) parts.set(reader.field, bytes.slice(reader.from, reader.to));
  const { resource, scope, resourceUrl, scopeUrl } = noOrigin;
  return {
    resource: parts.get(1) ?? resource,
    scope: parts.get(2) ?? scope,
    resourceUrl: parts.get(3) ?? resourceUrl,
    scopeUrl: parts.get(4) ?? scopeUrl,
  };
}
