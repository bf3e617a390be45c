// JSON text to values, without loss. Strict JSON gives exactly what JSON.parse gives, apart from integers that a
// double cannot hold.

import { JsonCursor, jsonKind, numberForm } from "./cursor.ts";
import { parseNumber } from "./number.ts";
import { decodeText } from "./text.ts";
import {
  defaultJsonLimits,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  oddity,
  toJsonFault,
} from "./value.ts";

export type JsonResult =
  | {
      readonly ok: true;
      readonly value: JsonValue;
      /** Bits of `oddity`. */
      readonly oddities: number;
    }
  | { readonly ok: false; readonly fault: JsonFault };

const textEncoder = new TextEncoder();

export function parseJson(input: Uint8Array | string, limits: JsonLimits = defaultJsonLimits): JsonResult {
  const bytes = typeof input === "string" ? encodeText(input) : input;
  try {
    const reader = new ValueReader(new JsonCursor(bytes, 0, bytes.length, limits));
    const value = reader.read();
    reader.cursor.finish();
    return { ok: true, value, oddities: reader.oddities };
  } catch (error) {
    return { ok: false, fault: toJsonFault(error) };
  }
}

/** Reads values where a cursor stands, for decoders that meet a part they want as a value. Throws JsonTrouble. */
export class ValueReader {
  readonly cursor: JsonCursor;
  oddities = 0;

  constructor(cursor: JsonCursor) {
    this.cursor = cursor;
  }

  read(): JsonValue {
    const { cursor } = this;
    const kind = cursor.peek();
    switch (kind) {
      case jsonKind.string:
        cursor.passScalar(kind);
        return this.textOfToken();
      case jsonKind.number:
        cursor.passScalar(kind);
        return this.numberOfToken();
      case jsonKind.object:
        return this.readObject();
      case jsonKind.array:
        return this.readArray();
      case jsonKind.true:
      case jsonKind.false:
      case jsonKind.null:
        cursor.passScalar(kind);
        return kind === jsonKind.null ? null : kind === jsonKind.true;
      default:
        return cursor.failExpected("a value");
    }
  }

  private readArray(): JsonValue[] {
    const items: JsonValue[] = [];
    for (let more = this.cursor.openArray(); more; more = this.cursor.nextItem()) items.push(this.read());
    return items;
  }

  private readObject(): JsonObject {
    const object: JsonObject = {};
    const { cursor } = this;
    // Two keys that differ in this mask differ; only those that meet in it are looked up.
    let seen = 0;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const bit = 1 << ((cursor.stop - cursor.start) ^ (cursor.bytes[cursor.start] as number));
      const key = this.textOfToken();
      if (((seen & bit) !== 0 || cursor.escaped) && Object.hasOwn(object, key)) this.oddities |= oddity.duplicateKeys;
      seen |= cursor.escaped ? -1 : bit;
      const value = this.read();
      // Plain assignment to this one key would set the prototype.
      if (key === "__proto__")
        Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
      else object[key] = value;
    }
    return object;
  }

  private textOfToken(): string {
    const { cursor } = this;
    if (cursor.lone) this.oddities |= oddity.loneSurrogate;
    return decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
  }

  private numberOfToken(): JsonValue {
    const { cursor } = this;
    const value = parseNumber(cursor.bytes, cursor.start, cursor.stop, cursor.form);
    if (typeof value !== "number") this.oddities |= oddity.bigInteger;
    else if (cursor.form === numberForm.nonFinite) this.oddities |= oddity.nonFinite;
    return value;
  }
}

/** UTF-8 cannot hold half a surrogate pair; its escape can, and means the same inside a JSON string. */
function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return textEncoder.encode(text);
  return textEncoder.encode(text.replaceAll(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`));
}
