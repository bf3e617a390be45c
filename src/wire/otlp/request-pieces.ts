// Requests, put together from records and cut to a size: a large one becomes several, so that others have
// their turn between two, and what is sent on is cut for its receiver.

import type { Fault } from "#model/fault.ts";
import { isSameOrigin, type OriginBytes } from "./origin.ts";
import { ProtoWriter } from "./proto-writer.ts";

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
    if (part === undefined || !isSameOrigin(part.origin, origin)) {
      part = { origin, records: [] };
      this.parts.push(part);
      this.size += origin.resource.length + origin.scope.length;
    }
    part.records.push(record);
    this.size += record.length + 4;
  }

  /** The request, in protobuf; the builder is empty then. */
  finish(): Uint8Array {
    const out = new ProtoWriter(this.size);
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

/** A record as it stands in a request; null where others may have a turn. */
export type FoundRecord = { readonly origin: OriginBytes; readonly record: Uint8Array } | null;

/** Requests of about this size, together all records. */
export function* gatherPieces(records: Iterable<FoundRecord>, pieceBytesMax: number): Generator<Uint8Array | null> {
  const builder = new RequestBuilder();
  for (const found of records) {
    if (found === null) {
      yield null;
      continue;
    }
    builder.add(found.origin, found.record);
    if (builder.size < pieceBytesMax) continue;
    const isLarge = builder.size > 4 * pieceBytesMax;
    // What is done with one large record is each as long as a turn: it was read, it is copied, and it will be decoded.
    if (isLarge) yield null;
    const piece = builder.finish();
    if (isLarge) yield null;
    yield piece;
  }
  if (builder.size > 0) yield builder.finish();
}

/** For whoever keeps nobody waiting. */
export function* withoutPauses(pieces: Iterable<Uint8Array | null>): Generator<Uint8Array> {
  for (const piece of pieces) if (piece !== null) yield piece;
}

/** A request of one list of records, given as the bytes that stand for it: whoever reads it says what is wrong with them. */
export function toOneList(list: Uint8Array): Uint8Array {
  const out = new ProtoWriter();
  out.bytes(1, list);
  return out.finish();
}

/** More than a body of the usual limit can have of real ones. */
export const recordsMax = 1_000_000;

/** What a request has beyond the records it may have stays together as one fault that is not read. */
export function toUnread(bytes: Uint8Array, offset: number, count: number): Fault {
  const raw = bytes.subarray(offset);
  const detail = `A body may have ${recordsMax} records: ${count} more, ${raw.length} bytes, were not read.`;
  return { code: "too_many_items", detail, place: { offset }, raw };
}
