// A request as JSON → the same in protobuf, which is what everything behind this reads. The lists are walked without
// being parsed, so that only one record at a time is an object; one that is none is a fault of its own.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { decodeText } from "#base/json/text.ts";
import { type JsonLimits, type JsonValue, toJsonFault } from "#base/json/value.ts";
import type { Fault } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { fromJson, NotMessage } from "./json-message.ts";
import { encodeMessage } from "./message.ts";
import { noOrigin, type OriginBytes } from "./origin.ts";
import { RequestBuilder } from "./request-pieces.ts";
import { type MessageType, resource, type Signal, scope, signals } from "./schema.ts";

export class JsonRequest {
  /** Records that became faults. */
  rejected = 0;
  private readonly found = new FaultList<Fault>();
  private readonly bytes: Uint8Array;
  private readonly limits: JsonLimits;
  private readonly signal: Signal;

  constructor(signal: Signal, bytes: Uint8Array, limits: JsonLimits) {
    this.signal = signal;
    this.bytes = bytes;
    this.limits = limits;
  }

  /** Of records that were none; complete when the pieces have been taken. */
  get faults(): Fault[] {
    return this.found.toArray(toRestFault);
  }

  /** Why the text is no request; null when it is one, whatever its records are. */
  refusal(): Fault | null {
    try {
      const cursor = new JsonCursor(this.bytes, 0, this.bytes.length, this.limits);
      const lists = this.membersAt(cursor);
      cursor.finish();
      if (lists === null) return this.refuse(`a request for ${this.signal} is an object`, 0);
      const list = lists.get(signals[this.signal].fields[0]);
      if (list !== undefined && this.itemsOf(list) === null)
        return this.refuse(`${signals[this.signal].fields[0]} is no list`, list.from);
      return null;
    } catch (error) {
      const { kind, reason, offset } = toJsonFault(error);
      const code = kind === "depth" ? "json_too_deep" : kind === "size" ? "json_too_large" : "json_syntax";
      return { code, detail: reason, place: { offset }, raw: this.bytes.slice() };
    }
  }

  /** Requests in protobuf of about this size, together all records. Only after `refusal` gave null. */
  *pieces(pieceBytesMax: number): Generator<Uint8Array> {
    const builder = new RequestBuilder();
    for (const { origin, record } of this.records()) {
      builder.add(origin, record);
      if (builder.size >= pieceBytesMax) yield builder.finish();
    }
    if (builder.size > 0) yield builder.finish();
  }

  private *records(): Generator<{ origin: OriginBytes; record: Uint8Array }> {
    const { fields, record: type } = signals[this.signal];
    const [resources, scopes, records] = fields;
    const whole = { from: 0, to: this.bytes.length };
    for (const ofResource of this.list(whole, resources)) {
      const head = this.head(ofResource, "resource", resource);
      if (head === null) continue;
      for (const ofScope of this.list(ofResource, scopes)) {
        const inner = this.head(ofScope, "scope", scope);
        if (inner === null) continue;
        const origin = { resource: head.own, resourceUrl: head.url, scope: inner.own, scopeUrl: inner.url };
        for (const at of this.list(ofScope, records)) {
          const record = this.encode(type, at);
          if (record !== null) yield { origin, record };
        }
      }
    }
  }

  /** The items of a list that is a member of an object; a fault when one of them is something else. */
  private *list(of: Extent, name: string): Generator<Extent> {
    const members = this.membersAt(this.cursorAt(of));
    const list = members?.get(name);
    if (list === undefined) {
      if (members === null) this.reject(of, "is no object", "");
      return;
    }
    const items = this.itemsOf(list);
    if (items === null) this.reject(list, "is no list", `/${name}`);
    else yield* items;
  }

  private head(of: Extent, name: string, type: MessageType): { own: Uint8Array; url: Uint8Array } | null {
    const members = this.membersAt(this.cursorAt(of));
    if (members === null) return { own: noOrigin.resource, url: noOrigin.resourceUrl };
    const at = members.get(name);
    const own = at === undefined || this.isNull(at) ? noOrigin.resource : this.encode(type, at);
    const url = members.get("schemaUrl");
    const address = url === undefined ? null : this.parse(url);
    return own === null ? null : { own, url: Buffer.from(typeof address === "string" ? address : "") };
  }

  private encode(type: MessageType, at: Extent): Uint8Array | null {
    try {
      return encodeMessage(type, fromJson(type, this.parse(at)));
    } catch (error) {
      if (!(error instanceof NotMessage)) throw error;
      this.reject(at, error.message, error.pointer);
      return null;
    }
  }

  private parse({ from, to }: Extent): JsonValue {
    const parsed = parseJson(this.bytes.subarray(from, to), this.limits);
    return parsed.ok ? parsed.value : null;
  }

  private isNull({ from }: Extent): boolean {
    return this.bytes[from] === 0x6e;
  }

  private cursorAt({ from, to }: Extent): JsonCursor {
    return new JsonCursor(this.bytes, from, to, this.limits);
  }

  /** Where the values of an object's members lie; null when it is none. */
  private membersAt(cursor: JsonCursor): Map<string, Extent> | null {
    if (cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return null;
    }
    const members = new Map<string, Extent>();
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const name = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
      cursor.peek();
      const from = cursor.pos;
      cursor.skipValue();
      members.set(name, { from, to: cursor.pos });
    }
    return members;
  }

  /** A list that is null stands for one that is not there. */
  private itemsOf(list: Extent): Extent[] | null {
    if (this.isNull(list)) return [];
    const cursor = this.cursorAt(list);
    if (cursor.peek() !== jsonKind.array) return null;
    const items: Extent[] = [];
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      cursor.peek();
      const from = cursor.pos;
      cursor.skipValue();
      items.push({ from, to: cursor.pos });
    }
    return items;
  }

  private reject({ from, to }: Extent, reason: string, pointer: string): void {
    this.rejected++;
    const place = pointer === "" ? { offset: from } : { offset: from, pointer };
    const detail = pointer === "" ? `a record ${reason}` : `${pointer} ${reason}`;
    this.found.add(() => ({ code: "otlp_record", detail, place, raw: this.bytes.slice(from, to) }));
  }

  private refuse(detail: string, offset: number): Fault {
    return { code: "otlp_not_export", detail, place: { offset }, raw: this.bytes.slice() };
  }
}

interface Extent {
  readonly from: number;
  readonly to: number;
}
