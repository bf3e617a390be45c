// Takes a protobuf request apart into its lists of records with their origins. Nothing is copied; a list is two offsets. A
// resource or scope may come after its records in the bytes, so each list is passed twice. There is a pause after every few
// thousand fields, so that millions of empty records keep nobody waiting.
//
//   request   1: resource with its records, repeated
//   resource  1: the resource · 2: scope with its records, repeated · 3: address of a schema
//   scope     1: the scope · 2: record, repeated · 3: address of a schema

import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import type { OriginBytes } from "./origin.ts";
import { ProtoReader, wireType } from "./protobuf.ts";

export const pauseFields = 8192;

/** Records that stand in one list, and where they come from. */
export interface RecordList {
  readonly origin: OriginBytes;
  readonly from: number;
  readonly to: number;
  /** How many records there are. */
  readonly count: number;
}

/** The records and lists that cannot be read; a list counts as one. */
export class Rejected {
  count = 0;
  private readonly bytes: Uint8Array;
  private readonly found: FaultList<Fault>;

  constructor(bytes: Uint8Array, faultsMax?: number) {
    this.bytes = bytes;
    this.found = new FaultList(faultsMax);
  }

  get faults(): Fault[] {
    return this.found.toArray(toRestFault);
  }

  add(from: number, to: number, detail: string): void {
    this.count++;
    const raw = () => this.bytes.slice(from, to);
    this.found.add(() => ({ code: "otlp_record", detail, place: { offset: from }, raw: raw() }));
  }
}

export const scopeTrouble = "a list of records with its scope is no protobuf";

/** Where the bytes stop being fields; -1 when they are a request, even if its lists are bad. */
export function* findTrouble(bytes: Uint8Array): Generator<void, number> {
  const reader = new ProtoReader(bytes);
  for (let passed = 1; reader.next(bytes.length); passed++) if (passed % pauseFields === 0) yield;
  return reader.bad ? reader.start : -1;
}

export function readerAt(bytes: Uint8Array, from: number): ProtoReader {
  const reader = new ProtoReader(bytes);
  reader.pos = from;
  return reader;
}

/** Whether the field that was just read is a record of the list. */
export function isItem({ field, wire }: ProtoReader): boolean {
  return field === 2 && wire === wireType.bytes;
}

/** The lists of a request that `findTrouble` has passed; a null is a pause. */
export function listsOf(bytes: Uint8Array, rejected: Rejected): Generator<RecordList | null> {
  return new ListWalk(bytes, rejected).lists();
}

class ListWalk {
  private readonly bytes: Uint8Array;
  private readonly rejected: Rejected;
  private passed = 0;

  constructor(bytes: Uint8Array, rejected: Rejected) {
    this.bytes = bytes;
    this.rejected = rejected;
  }

  *lists(): Generator<RecordList | null> {
    const reader = new ProtoReader(this.bytes);
    while (reader.next(this.bytes.length)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.field === 1 && reader.wire === wireType.bytes) yield* this.ofResource(reader.from, reader.to);
    }
  }

  private *ofResource(from: number, to: number): Generator<RecordList | null> {
    const resource = yield* this.head(from, to);
    if (resource === null) {
      this.rejected.add(from, to, "a list of records with its resource is no protobuf");
      return;
    }
    const reader = readerAt(this.bytes, from);
    while (reader.next(to)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (!isItem(reader)) continue;
      const scope = yield* this.head(reader.from, reader.to);
      if (scope === null) {
        this.rejected.add(reader.from, reader.to, scopeTrouble);
        continue;
      }
      const origin = { resource: resource.own, resourceUrl: resource.url, scope: scope.own, scopeUrl: scope.url };
      yield { origin, from: reader.from, to: reader.to, count: scope.items };
    }
  }

  /** The parts of a list other than its items, and the number of items; null when it is not a message. */
  private *head(from: number, to: number): Generator<null, Head | null> {
    const reader = readerAt(this.bytes, from);
    const head = { own: none, url: none, items: 0 };
    while (reader.next(to)) {
      if (++this.passed % pauseFields === 0) yield null;
      if (reader.wire !== wireType.bytes) continue;
      if (reader.field === 2) head.items++;
      else if (reader.field === 1) head.own = this.bytes.subarray(reader.from, reader.to);
      else if (reader.field === 3) head.url = this.bytes.subarray(reader.from, reader.to);
    }
    return reader.bad ? null : head;
  }
}

const none: Uint8Array = new Uint8Array(0);

interface Head {
  readonly own: Uint8Array;
  readonly url: Uint8Array;
  readonly items: number;
}
