// Requests, put together from records and cut to a size: a large one becomes several that are each decoded in a few
// milliseconds, and what is sent on is cut for its receiver.

import type { OriginBytes } from "./origin.ts";
import { ProtoWriter } from "./proto-writer.ts";
import { ProtoReader, wireType } from "./protobuf.ts";

/** Records of one origin. */
interface Part {
  readonly origin: OriginBytes;
  readonly records: Uint8Array[];
}

export class RequestBuilder {
  private parts: Part[] = [];
  /** Roughly the bytes of what was added. */
  size = 0;

  /** The record is not copied before `finish`. */
  add(origin: OriginBytes, record: Uint8Array): void {
    let part = this.parts.at(-1);
    if (part === undefined || !isSame(part.origin, origin)) {
      part = { origin, records: [] };
      this.parts.push(part);
      this.size += origin.resource.length + origin.scope.length;
    }
    part.records.push(record);
    this.size += record.length + 4;
  }

  /** The request, in protobuf; the builder is empty then. */
  finish(): Uint8Array {
    const out = new ProtoWriter();
    for (const { origin, records } of this.parts)
      out.message(1, () => {
        out.bytes(1, origin.resource);
        out.message(2, () => {
          if (origin.scope.length > 0) out.bytes(1, origin.scope);
          for (const record of records) out.bytes(2, record);
          if (origin.scopeUrl.length > 0) out.bytes(3, origin.scopeUrl);
        });
        if (origin.resourceUrl.length > 0) out.bytes(3, origin.resourceUrl);
      });
    this.parts = [];
    this.size = 0;
    return out.finish();
  }
}

function isSame(a: OriginBytes, b: OriginBytes): boolean {
  return (
    a === b ||
    (Buffer.compare(a.resource, b.resource) === 0 &&
      Buffer.compare(a.scope, b.scope) === 0 &&
      Buffer.compare(a.resourceUrl, b.resourceUrl) === 0 &&
      Buffer.compare(a.scopeUrl, b.scopeUrl) === 0)
  );
}

/** Pieces of about this size of a request in protobuf; the request itself when it is no larger, or no request. */
export function* cutRequest(body: Uint8Array, pieceBytesMax: number): Generator<Uint8Array> {
  const lists = body.length > pieceBytesMax ? listsOf(body) : null;
  if (lists === null) {
    yield body;
    return;
  }
  const builder = new RequestBuilder();
  for (const { origin, records } of lists)
    for (const record of records) {
      builder.add(origin, record);
      if (builder.size >= pieceBytesMax) yield builder.finish();
    }
  if (builder.size > 0) yield builder.finish();
}

/** Null when a list in it cannot be read: then the whole is decoded at once, and says so. */
function listsOf(body: Uint8Array): Part[] | null {
  const parts: Part[] = [];
  for (const ofResource of fieldsOf(body) ?? [null]) {
    if (ofResource === null) return null;
    const resource = ofResource.field === 1 ? fieldsOf(ofResource.bytes) : null;
    if (resource === null) return null;
    for (const ofScope of resource) {
      if (ofScope.field !== 2) continue;
      const scope = fieldsOf(ofScope.bytes);
      if (scope === null) return null;
      const origin = {
        resource: lastOf(resource, 1),
        resourceUrl: lastOf(resource, 3),
        scope: lastOf(scope, 1),
        scopeUrl: lastOf(scope, 3),
      };
      parts.push({ origin, records: scope.filter(({ field }) => field === 2).map(({ bytes }) => bytes) });
    }
  }
  return parts;
}

interface BytesField {
  readonly field: number;
  readonly bytes: Uint8Array;
}

/** The fields of a message that are bytes, as views. */
function fieldsOf(message: Uint8Array): BytesField[] | null {
  const reader = new ProtoReader(message);
  const fields: BytesField[] = [];
  while (reader.next(message.length))
    if (reader.wire === wireType.bytes)
      fields.push({ field: reader.field, bytes: message.subarray(reader.from, reader.to) });
  return reader.bad ? null : fields;
}

const none = new Uint8Array(0);

function lastOf(fields: readonly BytesField[], number: number): Uint8Array {
  return fields.findLast(({ field }) => field === number)?.bytes ?? none;
}
