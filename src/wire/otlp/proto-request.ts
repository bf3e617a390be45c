// A request in protobuf, cut into pieces that hold its records: only where each begins and ends is looked at. A pause is
// offered after every few thousand fields, so that millions of empty records keep nobody waiting.

import { atOnce } from "#base/turns.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { toRefusal } from "./decode.ts";
import type { OriginBytes } from "./origin.ts";
import { ProtoReader, wireType } from "./protobuf.ts";
import { type FoundRecord, gatherPieces, recordsMax, toUnread } from "./request-pieces.ts";
import type { Signal } from "./schema.ts";

const pauseFields = 8192;

const none = new Uint8Array(0);

export class ProtobufRequest {
  /** Lists that cannot be read, each as one, and records beyond those that a body may have. */
  rejected = 0;
  private readonly found = new FaultList<Fault>();
  private readonly signal: Signal;
  private readonly bytes: Uint8Array;
  private passed = 0;
  private records = 0;
  private unreadAt = -1;
  private readonly recordsMax: number;

  constructor(signal: Signal, bytes: Uint8Array, limits: { readonly recordsMax: number } = { recordsMax }) {
    this.signal = signal;
    this.bytes = bytes;
    this.recordsMax = limits.recordsMax;
  }

  /** Complete when the pieces have been taken; what is wrong with the records in them is not found here. */
  get faults(): Fault[] {
    const faults = this.found.toArray(toRestFault);
    const left = this.records - this.recordsMax;
    return left > 0 ? [...faults, toUnread(this.bytes, this.unreadAt, left)] : faults;
  }

  /** Why the bytes are no request; null when they are one, whatever its lists are. */
  refusal(): Fault | null {
    return atOnce(this.refusalInSteps());
  }

  *refusalInSteps(): Generator<void, Fault | null> {
    const reader = new ProtoReader(this.bytes);
    while (reader.next(this.bytes.length)) if (++this.passed % pauseFields === 0) yield;
    return reader.bad ? toRefusal(this.signal, this.bytes, reader.start) : null;
  }

  /** Requests of about this size, null where others may have a turn; the request itself when it is no larger. */
  *pieces(pieceBytesMax: number): Generator<Uint8Array | null> {
    if (this.bytes.length <= pieceBytesMax) yield this.bytes;
    else yield* gatherPieces(this.allRecords(), pieceBytesMax);
  }

  private *allRecords(): Generator<FoundRecord> {
    const reader = new ProtoReader(this.bytes);
    while (reader.next(this.bytes.length)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.field === 1 && reader.wire === wireType.bytes) yield* this.ofResource(reader.from, reader.to);
    }
  }

  private *ofResource(from: number, to: number): Generator<FoundRecord> {
    const resource = yield* this.head(from, to);
    if (resource === null) {
      this.reject(from, to, "a list of records with its resource is no protobuf");
      return;
    }
    const reader = this.readerAt(from);
    while (reader.next(to)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.field === 2 && reader.wire === wireType.bytes) yield* this.ofScope(reader.from, reader.to, resource);
    }
  }

  private *ofScope(from: number, to: number, resource: Head): Generator<FoundRecord> {
    const scope = yield* this.head(from, to);
    if (scope === null) {
      this.reject(from, to, "a list of records with its scope is no protobuf");
      return;
    }
    const origin: OriginBytes = {
      resource: resource.own,
      resourceUrl: resource.url,
      scope: scope.own,
      scopeUrl: scope.url,
    };
    const reader = this.readerAt(from);
    while (reader.next(to)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.field !== 2 || reader.wire !== wireType.bytes) continue;
      if (++this.records <= this.recordsMax) yield { origin, record: this.bytes.subarray(reader.from, reader.to) };
      else {
        this.rejected++;
        if (this.unreadAt < 0) this.unreadAt = reader.start;
      }
    }
  }

  /** The parts of a list that are not its items; null when it is not a message. */
  private *head(from: number, to: number): Generator<null, Head | null> {
    const reader = this.readerAt(from);
    let own: Uint8Array = none;
    let url: Uint8Array = none;
    while (reader.next(to)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.wire !== wireType.bytes) continue;
      if (reader.field === 1) own = this.bytes.subarray(reader.from, reader.to);
      else if (reader.field === 3) url = this.bytes.subarray(reader.from, reader.to);
    }
    return reader.bad ? null : { own, url };
  }

  private readerAt(from: number): ProtoReader {
    const reader = new ProtoReader(this.bytes);
    reader.pos = from;
    return reader;
  }

  private reject(from: number, to: number, detail: string): void {
    this.rejected++;
    const raw = () => this.bytes.slice(from, to);
    this.found.add(() => ({ code: "otlp_record", detail, place: { offset: from }, raw: raw() }));
  }
}

interface Head {
  readonly own: Uint8Array;
  readonly url: Uint8Array;
}
