// What lossless JSON can hold, and what can be wrong or odd about a text.
// Real clients write more than RFC 8259 allows (NaN, Infinity, integers of any size, lone surrogates, a key twice
// in one object); none of it may be lost or rounded on the way in.

/** An integer beyond 64 bits, as its decimal text. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Integers that a double holds exactly are numbers, other integers of 64 bits (signed) are bigints, larger ones
 * are NumberText. Everything with a fraction or an exponent is a number, as JSON.parse reads it.
 */
export type JsonValue = null | boolean | number | bigint | NumberText | string | JsonValue[] | JsonObject;

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return isObject(value) && !(value instanceof NumberText);
}

/** For values that JSON.parse made: neither a list nor null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  // Plain assignment to this one key would set the prototype.
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else object[key] = value;
}

/** Bits that say what a plain JSON.parse would have refused, rounded or hidden. */
export const oddity = {
  /** A NaN, Infinity or -Infinity literal. */
  nonFinite: 1,
  /** One key twice in an object; the last one wins. */
  duplicateKeys: 2,
  /** An escape that is half of a surrogate pair. */
  loneSurrogate: 4,
  /** An integer beyond ±(2^53 - 1). */
  bigInteger: 8,
} as const;

export interface JsonLimits {
  /** Nesting of objects and arrays; at most `jsonDepthCeiling`. */
  readonly depthMax: number;
  readonly bytesMax: number;
}

/** Readers may recurse once a level, so no limit is accepted that could exhaust the stack. */
export const jsonDepthCeiling = 2000;

export const defaultJsonLimits: JsonLimits = { depthMax: 512, bytesMax: 256 * 1024 * 1024 };

export interface JsonFault {
  readonly kind: "syntax" | "depth" | "size";
  readonly reason: string;
  /** Byte offset of the first byte that is wrong. */
  readonly offset: number;
}

/**
 * Thrown by JsonCursor, so that its readers need no check after every token. It never leaves a decoder: whoever
 * owns the cursor catches it at its edge and returns the fault as a value.
 */
export class JsonTrouble extends Error implements JsonFault {
  readonly kind: JsonFault["kind"];
  readonly reason: string;
  readonly offset: number;

  constructor(kind: JsonFault["kind"], reason: string, offset: number) {
    super(`${reason} at byte ${offset}`);
    this.kind = kind;
    this.reason = reason;
    this.offset = offset;
  }
}

/** The fault in a caught error; anything else is a bug and goes on. */
export function toJsonFault(error: unknown): JsonFault {
  if (!(error instanceof JsonTrouble)) throw error;
  return { kind: error.kind, reason: error.reason, offset: error.offset };
}
