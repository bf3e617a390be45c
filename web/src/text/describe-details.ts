// A small JSON object in words: what a pipeline's check says of its result.

import { parseTyped } from "#base/json/as-typed.ts";

/** `expected: Any; actual: NoDataType`; a text that stands alone needs no name. What is not an object stays as it is. */
export function describeDetails(json: string): string {
  const value = parse(json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return json;
  const parts = Object.entries(value);
  const [only] = parts;
  if (parts.length === 1 && typeof only?.[1] === "string") return only[1];
  return parts.map(([name, part]) => `${name.replaceAll("_", " ")}: ${wordsOf(part)}`).join("; ");
}

function parse(json: string): unknown {
  try {
    return parseTyped(json);
  } catch {
    return null;
  }
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  const isOfTexts = Array.isArray(value) && value.every((each) => typeof each === "string");
  return isOfTexts ? value.join(", ") || "none" : JSON.stringify(value);
}
