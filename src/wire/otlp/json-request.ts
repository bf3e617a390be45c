// A JSON request → the same in protobuf, which is what everything else reads. Only one record at a time is an object; one
// that cannot be read becomes a fault.

import { parseJson, parseJsonInSteps } from "#base/json/parse.ts";
import { type JsonLimits, type JsonValue, toJsonFault } from "#base/json/value.ts";
import { atOnce } from "#base/turns.ts";
import { type Fault, jsonFaultCodes } from "#model/fault.ts";
import { FaultList, toRestFault } from "#model/fault-list.ts";
import { fromJson, NotMessage } from "./json-message.ts";
import { type Extent, type HeadPlace, JsonOutline } from "./json-outline.ts";
import { encodeMessage } from "./message.ts";
import { noOrigin, type OriginBytes } from "./origin.ts";
import { type FoundRecord, gatherPieces, toUnread } from "./request-pieces.ts";
import { type MessageType, resource, type Signal, scope, signals } from "./schema.ts";

/** So much of the text is made records before others have a turn. */
const pauseBytes = 64 * 1024;
const largeBytes = 1024 * 1024;

export class JsonRequest {
  /** Records that became faults. */
  rejected = 0;
  private readonly found = new FaultList<Fault>();
  private readonly bytes: Uint8Array;
  private readonly limits: JsonLimits;
  private readonly signal: Signal;
  private outline: JsonOutline | null = null;

  constructor(signal: Signal, bytes: Uint8Array, limits: JsonLimits) {
    this.signal = signal;
    this.bytes = bytes;
    this.limits = limits;
  }

  /** Complete when the pieces have been taken. */
  get faults(): Fault[] {
    const faults = this.found.toArray(toRestFault);
    const { left = 0, leftAt = 0 } = this.outline ?? {};
    return left > 0 ? [...faults, toUnread(this.bytes, leftAt, left)] : faults;
  }

  /** Why the text is not a request; null when it is one, even if its records are bad. */
  refusal(): Fault | null {
    return atOnce(this.refusalInSteps());
  }

  *refusalInSteps(): Generator<void, Fault | null> {
    try {
      const { signal, bytes, limits } = this;
      const outline = new JsonOutline(signal, bytes, limits, (at, reason, pointer) => this.reject(at, reason, pointer));
      const wrong = yield* outline.scan();
      if (wrong !== null)
        return this.refuse(wrong.at === 0 ? `a request for ${signal} is an object` : wrong.reason, wrong.at);
      this.rejected += outline.left;
      this.outline = outline;
      return null;
    } catch (error) {
      const { kind, reason, offset } = toJsonFault(error);
      return { code: jsonFaultCodes[kind], detail: reason, place: { offset }, raw: this.bytes.slice() };
    }
  }

  /**
   * Cuts the request into protobuf requests of about this size; a null is a pause. Only after `refusal` returned null.
   */
  pieces(pieceBytesMax: number): Generator<Uint8Array | null> {
    return gatherPieces(this.records(), pieceBytesMax);
  }

  private *records(): Generator<FoundRecord> {
    const { outline } = this;
    if (outline === null) return;
    const { record: type } = signals[this.signal];
    let origin: OriginBytes | null = null;
    let [scopeAt, resourceAt] = [-1, -1];
    let head: Head | null = null;
    let pauseAt = pauseBytes;
    for (let at = 0; at < outline.length; at++) {
      const scopeOf = outline.scopeAt(at);
      if (scopeOf !== scopeAt) {
        scopeAt = scopeOf;
        if (outline.resourceAt(scopeOf) !== resourceAt) {
          resourceAt = outline.resourceAt(scopeOf);
          head = this.head(outline.resourceHead(resourceAt), resource);
        }
        const inner = head === null ? null : this.head(outline.scopeHead(scopeOf), scope);
        origin =
          head === null || inner === null
            ? null
            : { resource: head.own, resourceUrl: head.url, scope: inner.own, scopeUrl: inner.url };
      }
      const extent = outline.recordAt(at);
      if (extent.to >= pauseAt) {
        pauseAt = extent.to + pauseBytes;
        yield null;
      }
      if (origin === null) continue;
      const isLarge = extent.to - extent.from > largeBytes;
      const record = isLarge ? yield* this.encodeLarge(type, extent) : this.encode(type, extent);
      if (record !== null) yield { origin, record };
    }
  }

  /** Null when it is not a message: then its records are not taken. */
  private head({ own: at, url }: HeadPlace, type: MessageType): Head | null {
    if (at !== null && at.from === at.to) return null;
    const own = at === null ? noOrigin.resource : this.encode(type, at);
    const address = url === null ? null : this.parse(url);
    return own === null ? null : { own, url: Buffer.from(typeof address === "string" ? address : "") };
  }

  private encode(type: MessageType, at: Extent): Uint8Array | null {
    try {
      return encodeMessage(type, fromJson(type, this.parse(at)));
    } catch (error) {
      return this.rejectUnless(error, at);
    }
  }

  /** The same, with pauses between reading and writing. */
  private *encodeLarge(type: MessageType, at: Extent): Generator<null, Uint8Array | null> {
    try {
      const parsing = parseJsonInSteps(this.bytes.subarray(at.from, at.to), this.limits);
      let parsed = parsing.next();
      for (; parsed.done !== true; parsed = parsing.next()) yield null;
      yield null;
      const message = fromJson(type, parsed.value.ok ? parsed.value.value : null);
      yield null;
      return encodeMessage(type, message, at.to - at.from);
    } catch (error) {
      return this.rejectUnless(error, at);
    }
  }

  private rejectUnless(error: unknown, at: Extent): null {
    if (!(error instanceof NotMessage)) throw error;
    this.reject(at, error.message, error.pointer);
    return null;
  }

  private parse({ from, to }: Extent): JsonValue {
    const parsed = parseJson(this.bytes.subarray(from, to), this.limits);
    return parsed.ok ? parsed.value : null;
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

interface Head {
  readonly own: Uint8Array;
  readonly url: Uint8Array;
}
