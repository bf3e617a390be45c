// JSON text to values, without loss. Strict JSON gives exactly what JSON.parse gives, apart from integers that a
// double cannot hold.

import { JsonCursor, jsonKind, numberForm } from "./cursor.ts";
import { findKey, KeyNode, keyAt } from "./key-table.ts";
import { Pauses, pauseBytes } from "./pauses.ts";
import {
  defaultJsonLimits,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  oddity,
  setMember,
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
/** Stands above the outermost object, to remember its first key. */
const root = new KeyNode("", new Uint8Array(0), 0, -1);

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

/** The same with pauses, for a long text. */
export function* parseJsonInSteps(
  bytes: Uint8Array,
  limits: JsonLimits = defaultJsonLimits,
): Generator<void, JsonResult> {
  try {
    const reader = new ValueReader(new JsonCursor(bytes, 0, bytes.length, limits));
    const value = yield* reader.readInSteps(new Pauses(0));
    reader.cursor.finish();
    return { ok: true, value, oddities: reader.oddities };
  } catch (error) {
    return { ok: false, fault: toJsonFault(error) };
  }
}

/** Reads values where a cursor stands. Throws JsonTrouble. */
class ValueReader {
  readonly cursor: JsonCursor;
  oddities = 0;

  constructor(cursor: JsonCursor) {
    this.cursor = cursor;
  }

  read(above: KeyNode = root): JsonValue {
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
        return this.readObject(above);
      case jsonKind.array:
        return this.readArray(above);
      case jsonKind.true:
      case jsonKind.false:
      case jsonKind.null:
        cursor.passScalar(kind);
        return kind === jsonKind.null ? null : kind === jsonKind.true;
      default:
        return cursor.failExpected("a value");
    }
  }

  /** As `read`, with a pause offered from time to time. */
  *readInSteps(pauses: Pauses, above: KeyNode = root): Generator<void, JsonValue> {
    const kind = this.cursor.peek();
    if (kind === jsonKind.array) return yield* this.readArrayInSteps(pauses, above);
    if (kind === jsonKind.object) return yield* this.readObjectInSteps(pauses, above);
    if (kind !== jsonKind.string) return this.read(above);
    this.cursor.openString();
    while (!this.cursor.passText(this.cursor.pos + pauseBytes)) yield;
    if (pauses.isDue(this.cursor.pos)) yield;
    return this.textOfToken();
  }

  private *readArrayInSteps(pauses: Pauses, above: KeyNode): Generator<void, JsonValue[]> {
    const { cursor } = this;
    const items: JsonValue[] = [];
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      if (pauses.isDue(this.cursor.pos)) yield;
      items.push(cursor.peek() > jsonKind.string ? this.read(above) : yield* this.readInSteps(pauses, above));
    }
    return items;
  }

  private *readObjectInSteps(pauses: Pauses, above: KeyNode): Generator<void, JsonObject> {
    const { cursor } = this;
    const object: JsonObject = {};
    for (let more = cursor.enterObject(); more; more = cursor.passComma()) {
      if (pauses.isDue(this.cursor.pos)) yield;
      const key = this.readKey();
      if (Object.hasOwn(object, key.text)) this.oddities |= oddity.duplicateKeys;
      if (key.lone) this.oddities |= oddity.loneSurrogate;
      setMember(
        object,
        key.text,
        cursor.peek() > jsonKind.string ? this.read(above) : yield* this.readInSteps(pauses, above),
      );
    }
    return object;
  }

  private readArray(above: KeyNode): JsonValue[] {
    const items: JsonValue[] = [];
    for (let more = this.cursor.openArray(); more; more = this.cursor.nextItem()) items.push(this.read(above));
    return items;
  }

  private readObject(above: KeyNode): JsonObject {
    const object: JsonObject = {};
    const { cursor } = this;
    let guess = keyAt(above.first);
    let previous: KeyNode | undefined;
    // Keys that share no bit differ; only those that meet in it are looked up.
    let seen = 0;
    for (let more = cursor.enterObject(); more; more = cursor.passComma()) {
      let key: KeyNode;
      if (guess !== undefined && cursor.tryKey(guess.token)) key = guess;
      else {
        key = this.readKey();
        if (previous === undefined) above.first = key.slot;
        else previous.next = key.slot;
      }
      if ((seen & key.bit) !== 0 && Object.hasOwn(object, key.text)) this.oddities |= oddity.duplicateKeys;
      seen |= key.bit;
      if (key.lone) this.oddities |= oddity.loneSurrogate;
      setMember(object, key.text, this.read(key));
      previous = key;
      guess = keyAt(key.next);
    }
    return object;
  }

  private readKey(): KeyNode {
    const { cursor } = this;
    cursor.readKey();
    return findKey(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
  }

  private textOfToken(): string {
    const { cursor } = this;
    if (cursor.lone) this.oddities |= oddity.loneSurrogate;
    return cursor.text();
  }

  private numberOfToken(): JsonValue {
    const { cursor } = this;
    const value = cursor.number();
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
