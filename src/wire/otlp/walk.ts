// A request, taken apart: its records with the origin of each. Nothing is copied; a record is two offsets. A resource or
// scope may stand behind its records in the bytes, so that each list is gone through twice.
//
//   request   1: resource with its records, repeated
//   resource  1: the resource · 2: scope with its records, repeated · 3: address of a schema
//   scope     1: the scope · 2: record, repeated · 3: address of a schema

import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { type Origin, readOrigin } from "./origin.ts";
import { ProtoReader, wireType } from "./protobuf.ts";

/** Reads the record between two offsets; returns why it cannot be read, if so. */
export type TakeRecord = (reader: ProtoReader, from: number, to: number, origin: number) => string | null;

const none = new Uint8Array(0);

export class RequestWalk {
  readonly origins: Origin[] = [];
  readonly reader: ProtoReader;
  /** Records that were taken. */
  taken = 0;
  /** Records that were not, those of a list that could not be read among them as one. */
  rejected = 0;
  private readonly found: FaultList<Fault>;

  private readonly expect: (count: number) => void;

  /** `expect` is called with the number of records of the next list. */
  constructor(bytes: Uint8Array, expect: (count: number) => void, faultsMax?: number) {
    this.reader = new ProtoReader(bytes);
    this.expect = expect;
    this.found = new FaultList(faultsMax);
  }

  get faults(): Fault[] {
    return this.found.toArray(toRestFault);
  }

  /** False when the bytes are no request at all. */
  walk(take: TakeRecord): boolean {
    const { reader } = this;
    const end = reader.bytes.length;
    // Looked through first: what is not a request must not be taken in part.
    while (reader.next(end));
    if (reader.bad) return false;
    reader.pos = 0;
    while (reader.next(end)) {
      if (reader.field !== 1 || reader.wire !== wireType.bytes) continue;
      const { from, to } = reader;
      if (!this.walkResource(from, to, take))
        this.reject(from, to, "a list of records with its resource is no protobuf");
      this.resume(to);
    }
    return true;
  }

  private walkResource(from: number, to: number, take: TakeRecord): boolean {
    const { reader } = this;
    const head = this.readHead(from, to);
    if (head === null) return false;
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.field !== 2 || reader.wire !== wireType.bytes) continue;
      const { from: scopeFrom, to: scopeTo } = reader;
      if (!this.walkScope(scopeFrom, scopeTo, head, take))
        this.reject(scopeFrom, scopeTo, "a list of records with its scope is no protobuf");
      this.resume(scopeTo);
    }
    return true;
  }

  private walkScope(from: number, to: number, resource: Head, take: TakeRecord): boolean {
    const { reader } = this;
    const head = this.readHead(from, to);
    if (head === null) return false;
    const found = readOrigin({
      resource: resource.own,
      resourceUrl: resource.url,
      scope: head.own,
      scopeUrl: head.url,
    });
    if (found === null) return false;
    const known = this.origins.indexOf(found);
    const origin = known < 0 ? this.origins.push(found) - 1 : known;
    this.expect(head.items);
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.field !== 2 || reader.wire !== wireType.bytes) continue;
      const { from: recordFrom, to: recordTo } = reader;
      const reason = take(reader, recordFrom, recordTo, origin);
      if (reason === null) this.taken++;
      else this.reject(recordFrom, recordTo, reason);
      this.resume(recordTo);
    }
    return true;
  }

  /** The parts of a list that are not its items, and how many these are. */
  private readHead(from: number, to: number): Head | null {
    const { reader } = this;
    let own: Uint8Array = none;
    let url: Uint8Array = none;
    let items = 0;
    reader.pos = from;
    while (reader.next(to)) {
      if (reader.wire !== wireType.bytes) continue;
      if (reader.field === 2) items++;
      else if (reader.field === 1) own = reader.bytes.subarray(reader.from, reader.to);
      else if (reader.field === 3) url = reader.bytes.subarray(reader.from, reader.to);
    }
    return reader.bad ? null : { own, url, items };
  }

  /** What was wrong inside does not spoil what stands behind it. */
  private resume(at: number): void {
    this.reader.bad = false;
    this.reader.pos = at;
  }

  private reject(from: number, to: number, detail: string): void {
    this.rejected++;
    const raw = () => this.reader.bytes.slice(from, to);
    this.found.add(() => ({ code: "otlp_record", detail, place: { offset: from }, raw: raw() }));
  }
}

interface Head {
  readonly own: Uint8Array;
  readonly url: Uint8Array;
  readonly items: number;
}
