// Requests → their JSON form: from records, or from protobuf.

import { isUtf8 } from "node:buffer";
import type { Texts } from "#base/json/texts.ts";
import { decodeMessage, type FieldValue, type Message } from "./message.ts";
import { formatMessage } from "./message-text.ts";
import { isSameOrigin, type OriginBytes } from "./origin.ts";
import { resource, type Signal, scope, signals } from "./schema.ts";

export interface PlacedMessage {
  readonly origin: OriginBytes;
  readonly message: Message;
  /** In protobuf, where the message is not all of it. */
  readonly bytes: Uint8Array | null;
}

/**
 * A request with these records. Null when something in it has no JSON form: a field that OTLP does not have yet, or text that
 * is not UTF-8. With pauses, because a record may be large.
 */
export function* formatRequest(signal: Signal, placed: readonly PlacedMessage[]): Generator<void, Texts | null> {
  const { fields, request } = signals[signal];
  const [resources, scopes, records] = fields;
  const parts: Message[] = [];
  let last: { readonly origin: OriginBytes; readonly messages: FieldValue[] } | null = null;
  for (const { origin, message, bytes } of placed) {
    if (bytes !== null) return null;
    if (last === null || !isSameOrigin(last.origin, origin)) {
      const heads = readHeads(origin);
      if (heads === null) return null;
      last = { origin, messages: [] };
      parts.push({ ...heads.resource, [scopes]: [{ ...heads.scope, [records]: last.messages }] });
    }
    last.messages.push(message);
  }
  const { text, isWhole } = yield* formatMessage(request, { [resources]: parts });
  return isWhole ? text : null;
}

/** Null when a text of them is not UTF-8. */
function readHeads(origin: OriginBytes): { readonly resource: Message; readonly scope: Message } | null {
  const ofResource = decodeMessage(resource, origin.resource);
  const ofScope = decodeMessage(scope, origin.scope);
  const isExact = ofResource?.isExact === true && ofScope?.isExact === true;
  if (!isExact || !isUtf8(origin.resourceUrl) || !isUtf8(origin.scopeUrl)) return null;
  return {
    resource: { resource: ofResource.message, ...urlOf(origin.resourceUrl) },
    scope: { ...(origin.scope.length === 0 ? {} : { scope: ofScope.message }), ...urlOf(origin.scopeUrl) },
  };
}

function urlOf(bytes: Uint8Array): Message {
  return bytes.length === 0 ? {} : { schemaUrl: Buffer.from(bytes).toString() };
}

/** A request as JSON, without what has no JSON form. */
export function* formatNearest(signal: Signal, body: Uint8Array): Generator<void, Texts> {
  const { request } = signals[signal];
  const decoded = decodeMessage(request, body);
  yield;
  return (yield* formatMessage(request, decoded?.message ?? {})).text;
}
