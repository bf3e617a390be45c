// Any value of a user's program → a value the trace can hold, without ever throwing.

import { PythonFloat, type PythonValue } from "#wire/semantiva/python-json.ts";

const depthMax = 32;
const itemsMax = 10_000;

/** What JSON cannot say becomes a short description of itself. Fields that are undefined are left out. */
export function toTraceValue(value: unknown): PythonValue {
  try {
    return convert(value, 0, []) ?? null;
  } catch {
    return "[unreadable]";
  }
}

export function toTraceObject(value: object): { [key: string]: PythonValue } {
  const converted = toTraceValue(value);
  const isObject = typeof converted === "object" && converted !== null && !Array.isArray(converted);
  return isObject ? (converted as { [key: string]: PythonValue }) : {};
}

function convert(value: unknown, depth: number, path: object[]): PythonValue | undefined {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "bigint":
      return value;
    case "undefined":
      return undefined;
    case "function":
      return `[function ${value.name || "anonymous"}]`;
    case "symbol":
      return value.toString();
    default:
      return value === null ? null : convertReference(value as object, depth, path);
  }
}

function convertReference(value: object, depth: number, path: object[]): PythonValue | undefined {
  if (value instanceof PythonFloat) return value;
  if (path.includes(value)) return "[circular]";
  if (depth >= depthMax) return "[too deep]";
  path.push(value);
  try {
    if (Array.isArray(value)) return convertItems(value, depth, path);
    if (value instanceof DataView) return `[DataView of ${value.byteLength} bytes]`;
    if (ArrayBuffer.isView(value)) return convertItems(value as unknown as ArrayLike<unknown>, depth, path);
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    if (value instanceof Map) return convertFields(Object.fromEntries(value), depth, path);
    if (value instanceof Set) return convertItems([...value], depth, path);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return convert(toJSON.call(value), depth + 1, path);
    return convertFields(value, depth, path);
  } catch {
    return "[unreadable]";
  } finally {
    path.pop();
  }
}

function convertItems(items: ArrayLike<unknown>, depth: number, path: object[]): PythonValue[] {
  const count = Math.min(items.length, itemsMax);
  const converted: PythonValue[] = [];
  for (let i = 0; i < count; i++) converted.push(convert(items[i], depth + 1, path) ?? null);
  if (items.length > count) converted.push(`[${items.length - count} more]`);
  return converted;
}

function convertFields(value: object, depth: number, path: object[]): { [key: string]: PythonValue } {
  const entries: [string, PythonValue][] = [];
  for (const key of Object.keys(value).slice(0, itemsMax)) {
    let converted: PythonValue | undefined;
    try {
      converted = convert((value as Record<string, unknown>)[key], depth + 1, path);
    } catch {
      converted = "[unreadable]";
    }
    if (converted !== undefined) entries.push([key, converted]);
  }
  return Object.fromEntries(entries);
}
