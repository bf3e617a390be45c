// Fields of a lossless JSON record, read by type. A field of another type reads as absent. Nothing is lost by that, because
// the whole line is stored beside the columns.

import { isJsonObject, type JsonObject, type JsonValue } from "#base/json/value.ts";

export function textAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = valueAt(object, key);
  return typeof value === "string" ? value : undefined;
}

/** A 64-bit integer; a number when a double has it exactly. */
export function integerAt(object: JsonObject | undefined, key: string): number | bigint | undefined {
  const value = valueAt(object, key);
  return typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)) ? value : undefined;
}

export function intAt(object: JsonObject | undefined, key: string): bigint | undefined {
  const value = integerAt(object, key);
  return value === undefined ? undefined : BigInt(value);
}

export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = valueAt(object, key);
  return isJsonObject(value) ? value : undefined;
}

export function listAt(object: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = valueAt(object, key);
  return Array.isArray(value) ? value : [];
}

function valueAt(object: JsonObject | undefined, key: string): JsonValue | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}
