// Lossless JSON as the plain values that a schema validator knows.

import { type JsonObject, type JsonValue, NumberText } from "#base/json/value.ts";

/** The value itself when it is plain already; else a copy in which integers of any size are doubles. */
export function toPlain(value: JsonValue): JsonValue {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof NumberText) return Number(value.text);
  return Array.isArray(value) ? toPlainArray(value) : toPlainObject(value);
}

function toPlainArray(value: JsonValue[]): JsonValue[] {
  let copy: JsonValue[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const plain = toPlain(value[i] as JsonValue);
    if (plain === value[i] || Number.isNaN(plain)) continue;
    copy ??= [...value];
    copy[i] = plain;
  }
  return copy ?? value;
}

function toPlainObject(value: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const plain = toPlain(value[key] as JsonValue);
    if (plain === value[key] || Number.isNaN(plain)) continue;
    copy ??= { ...value };
    copy[key] = plain;
  }
  return copy ?? value;
}
