// Builds requests of a limited size from records: a large request becomes several, so that other work gets turns
// between them, and what is sent on suits its receiver.

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
  /** Roughly how many bytes were added. */
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

/** A record of a request; null for a pause. */
export type FoundRecord = { readonly origin: OriginBytes; readonly record: Uint8Array } | null;

/** Gathers all records into requests of about this size. */
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
    // Each step with a large record takes as long as a turn: it was read, it is copied, and it will be decoded.
    if (isLarge) yield null;
    const piece = builder.finish();
    if (isLarge) yield null;
    yield piece;
  }
  if (builder.size > 0) yield builder.finish();
}

/** For callers that need no pauses. */
export function* withoutPauses(pieces: Iterable<Uint8Array | null>): Generator<Uint8Array> {
  for (const piece of pieces) if (piece !== null) yield piece;
}

/** A request with these bytes as its only list of records: its reader finds out what is wrong with them. */
export function toOneList(list: Uint8Array): Uint8Array {
  const out = new ProtoWriter();
  out.bytes(1, list);
  return out.finish();
}

/** More real records than a body of the usual size limit can have. */
export const recordsMax = 1_000_000;

/** One fault for everything beyond the records that a request may have, which is not read. */
export function toUnread(bytes: Uint8Array, offset: number, count: number): Fault {
  const raw = bytes.subarray(offset);
  const detail = `A body may have ${recordsMax} records: ${count} more, ${raw.length} bytes, were not read.`;
  return { code: "too_many_items", detail, place: { offset }, raw };
}
