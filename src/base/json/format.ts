// Values to JSON text.
//   strict    RFC 8259: NaN and ±Infinity become the strings "NaN", "Infinity", "-Infinity"
//   lossless  what Python writes and reads: they stay literals
// In both, integers keep all their digits, -0 stays -0, and half a surrogate pair is written as its escape.

import { type JsonValue, NumberText } from "./value.ts";

export type JsonStyle = "strict" | "lossless";

export function formatJson(value: JsonValue, style: JsonStyle): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
      return formatNumber(value, style);
    case "bigint":
    case "boolean":
      return String(value);
    default:
      break;
  }
  if (value === null) return "null";
  if (value instanceof NumberText) return value.text;
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += text === "" ? formatJson(item, style) : `,${formatJson(item, style)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value)) {
    const member = `${JSON.stringify(key)}:${formatJson(value[key] as JsonValue, style)}`;
    text += text === "" ? member : `,${member}`;
  }
  return `{${text}}`;
}

/** So many characters are escaped at once. */
const pieceChars = 256 * 1024;

/** A text in pieces that are each worth a turn, none of them with half of a surrogate pair at an end. */
export function* inPieces(text: string, charsMax: number = pieceChars): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + charsMax);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to++;
    yield text.slice(from, to);
    from = to;
  }
}

/** A finite double, always with a point or an exponent, so that it is read back as a float; -0 keeps its sign. */
export function formatDouble(value: number): string {
  const text = Object.is(value, -0) ? "-0" : String(value);
  return Number.isInteger(value) && !text.includes("e") ? `${text}.0` : text;
}

function formatNumber(value: number, style: JsonStyle): string {
  if (!Number.isFinite(value)) return style === "strict" ? `"${value}"` : String(value);
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  // Without a point a double beyond 2^53 would be read back as an exact integer, which it never was.
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !text.includes("e") ? `${text}.0` : text;
}
