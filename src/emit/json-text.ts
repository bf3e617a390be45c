// Any value of a user's program → JSON text. NaN and ±Infinity are written as the bare words that Python's json writes
// and reads.

import { type Maker, readFields, readValue } from "./read-value.ts";

const quotedMax = 4096;
const quotedTexts = new Map<string, string>();

const toText: Maker<string> = {
  scalar: (value) =>
    typeof value === "string" ? JSON.stringify(value) : Object.is(value, -0) ? "-0.0" : String(value),
  items: (items) => `[${items.join(",")}]`,
  fields: (names, values) => {
    let text = "";
    for (let at = 0; at < names.length; at++)
      text += `${at === 0 ? "" : ","}${quote(names[at] as string)}:${values[at]}`;
    return `{${text}}`;
  },
};

export function formatValue(value: unknown): string {
  return readValue(value, toText);
}

/** The object's own enumerable fields; fields without a JSON form (undefined) are left out. */
export function formatObject(value: object): string {
  try {
    return readFields(value, toText);
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
