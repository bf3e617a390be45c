// How much of the data a trace shows (hashes, short texts, context values), and the summaries made accordingly.

import { createHash } from "node:crypto";
import { formatAscii } from "#wire/semantiva/encode.ts";
import { formatPythonJson, type PythonStyle, type PythonValue } from "#wire/semantiva/python-json.ts";
import { toTraceValue } from "./value.ts";

export interface Detail {
  readonly hash: boolean;
  readonly repr: boolean;
  readonly context: boolean;
}

export type Summary = { readonly [key: string]: PythonValue };

const reprCharsMax = 200;
const compactAscii: PythonStyle = { itemEnd: ",", keyEnd: ":", text: formatAscii };

/** Comma-separated; case and blanks do not matter, unknown words are ignored, and `hash` is on when nothing else is. */
export function parseDetail(text: string): Detail {
  const words = new Set(text.split(",").map((word) => word.trim().toLowerCase()));
  const all = words.has("all");
  const repr = all || words.has("repr");
  const context = all || words.has("context");
  return { hash: all || words.has("hash") || (!repr && !context), repr, context };
}

/** A value without its content: its type, its length when it has one, and what the flags allow. */
export function summarize(value: unknown, detail: Detail): Summary {
  const length = lengthOf(value);
  return {
    dtype: typeNameOf(value),
    ...(length === undefined ? {} : { len: length }),
    ...(detail.hash ? { sha256: hashOf(value) } : {}),
    ...(detail.repr ? { repr: cut(formatCompact(value)) } : {}),
  };
}

/** The whole context, before or after a node. */
export function summarizeContext(context: Readonly<Record<string, unknown>>, detail: Detail): Summary {
  const shown = () =>
    Object.keys(context)
      .sort()
      .map((key) => `${key}=${cut(formatCompact(context[key]))}`)
      .join(", ");
  return {
    ...(detail.hash ? { sha256: hashOf(context) } : {}),
    ...(detail.context ? { repr: shown() } : {}),
  };
}

/** `sha256-` and the digest of the value as compact JSON with sorted keys. */
function hashOf(value: unknown): string {
  return `sha256-${sha256(formatCompact(value))}`;
}

export function formatCompact(value: unknown): string {
  return formatPythonJson(toTraceValue(value), compactAscii);
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function typeNameOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value !== "object") return typeof value;
  try {
    return value.constructor?.name || "Object";
  } catch {
    return "Object";
  }
}

function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return (value as Uint8Array).length;
  return undefined;
}

function cut(text: string): string {
  return text.length <= reprCharsMax ? text : `${text.slice(0, reprCharsMax)}…`;
}
