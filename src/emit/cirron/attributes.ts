// Attributes → JSON text at the moment they are given, so that later changes do not show and no
// user object is kept alive. Flat objects of numbers, strings and booleans are the fast path.

import { formatValue } from "#emit/json-text.ts";

/** Any value is taken; what JSON cannot say becomes a short description of itself. */
export type Attributes = Readonly<Record<string, unknown>>;

export const noAttributes = "{}";
const textLengthMax = 65_536;
const cachedMax = 4096;
const cached = new Map<string, string>();

/** A quoted JSON string; names and keys repeat, so their quoted form is kept. */
export function quote(text: string): string {
  let quoted = cached.get(text);
  if (quoted === undefined) {
    // Untyped callers hand over anything as a name.
    quoted = typeof text === "string" ? JSON.stringify(text) : JSON.stringify(formatValue(text));
    if (cached.size < cachedMax && quoted.length < 256) cached.set(text, quoted);
  }
  return quoted;
}

export function formatAttributes(attrs: Attributes | undefined): string {
  if (attrs === undefined || attrs === null) return noAttributes;
  let out = "";
  try {
    for (const key of Object.keys(attrs)) {
      const value = attrs[key];
      let text: string;
      if (typeof value === "number") text = Object.is(value, -0) ? "-0.0" : `${value}`;
      else if (value === undefined) continue;
      else text = formatValue(value);
      out = out === "" ? `${quote(key)}:${text}` : `${out},${quote(key)}:${text}`;
    }
  } catch {
    // A getter or proxy of the user's object threw: what was read until then is kept.
  }
  if (out.length > textLengthMax) return `{"cirron.attrs_omitted_chars":${out.length}}`;
  return out === "" ? noAttributes : `{${out}}`;
}

/** `{…a}` and `{…b}` as one object; keys of `b` come last, so a reader lets them win. */
export function joinAttributes(a: string, b: string): string {
  if (a === noAttributes) return b;
  if (b === noAttributes) return a;
  return `${a.slice(0, -1)},${b.slice(1)}`;
}
