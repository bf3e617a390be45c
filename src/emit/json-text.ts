// Any value of a user's program → JSON text, without ever throwing.
// Attributes, parameters and context values come from code we do not know: they may hold cycles,
// getters that throw, class instances or tensors. A value that JSON cannot say becomes a short
// description of itself, so that one odd attribute never costs the record it hangs on.
// NaN and ±Infinity are written as the bare words that Python's json writes and reads.

const depthMax = 32;
const itemsMax = 10_000;
const quotedMax = 4096;
const quotedTexts = new Map<string, string>();

/** Values are read at once: later changes of the object by its owner do not show. */
export function formatValue(value: unknown): string {
  try {
    return format(value, 0, []) ?? "null";
  } catch {
    return '"[unreadable]"';
  }
}

/** The object's own enumerable fields; fields without a JSON form (undefined) are left out. */
export function formatObject(value: object): string {
  try {
    return formatFields(value, 0, []);
  } catch {
    return "{}";
  }
}

/** A JSON string. Names and keys repeat, so their quoted form is kept. */
export function quote(text: string): string {
  let quoted = quotedTexts.get(text);
  if (quoted === undefined) {
    // Untyped callers hand over anything as a name.
    quoted = typeof text === "string" ? JSON.stringify(text) : JSON.stringify(formatValue(text));
    if (quotedTexts.size < quotedMax && quoted.length < 256) quotedTexts.set(text, quoted);
  }
  return quoted;
}

/** Floats as Python prints them where it matters: 1 is "1.0", so that a reader sees a float again. */
export function formatFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const text = String(value);
  return Number.isInteger(value) && value < 1e21 && value > -1e21 ? `${text}.0` : text;
}

function formatNumber(value: number): string {
  return Object.is(value, -0) ? "-0.0" : String(value);
}

function format(value: unknown, depth: number, path: object[]): string | undefined {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return formatNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return value.toString();
    case "undefined":
      return undefined;
    case "function":
      return JSON.stringify(`[function ${value.name || "anonymous"}]`);
    case "symbol":
      return JSON.stringify(value.toString());
    default:
      return value === null ? "null" : formatReference(value as object, depth, path);
  }
}

function formatReference(value: object, depth: number, path: object[]): string | undefined {
  if (path.includes(value)) return '"[circular]"';
  if (depth >= depthMax) return '"[too deep]"';
  path.push(value);
  try {
    if (Array.isArray(value)) return formatItems(value, depth, path);
    if (ArrayBuffer.isView(value)) return formatView(value, depth, path);
    if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
    if (value instanceof Map) return formatFields(Object.fromEntries(value), depth, path);
    if (value instanceof Set) return formatItems([...value], depth, path);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return format(toJSON.call(value), depth + 1, path);
    return formatFields(value, depth, path);
  } catch {
    return '"[unreadable]"';
  } finally {
    path.pop();
  }
}

function formatView(value: ArrayBufferView, depth: number, path: object[]): string {
  if (value instanceof DataView) return JSON.stringify(`[DataView of ${value.byteLength} bytes]`);
  return formatItems(value as unknown as ArrayLike<unknown>, depth, path);
}

function formatItems(items: ArrayLike<unknown>, depth: number, path: object[]): string {
  const count = Math.min(items.length, itemsMax);
  let out = "[";
  for (let i = 0; i < count; i++) {
    if (i > 0) out += ",";
    out += format(items[i], depth + 1, path) ?? "null";
  }
  if (items.length > count) out += `,${JSON.stringify(`[${items.length - count} more]`)}`;
  return `${out}]`;
}

function formatFields(value: object, depth: number, path: object[]): string {
  let out = "";
  let count = 0;
  for (const key of Object.keys(value)) {
    if (++count > itemsMax) break;
    let text: string | undefined;
    try {
      text = format((value as Record<string, unknown>)[key], depth + 1, path);
    } catch {
      text = '"[unreadable]"';
    }
    if (text !== undefined) out += `${out === "" ? "" : ","}${JSON.stringify(key)}:${text}`;
  }
  return `{${out}}`;
}
