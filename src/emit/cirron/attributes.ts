// Attributes → JSON text at the moment they are given, so that later changes do not show and no
// user object is kept alive. Flat objects of numbers, strings and booleans are the fast path.

import { formatValue, quote } from "#emit/json-text.ts";

/** Any value is taken; what JSON cannot express becomes a short description of itself. */
export type Attributes = Readonly<Record<string, unknown>>;

export const noAttributes = "{}";
const textLengthMax = 65_536;

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
