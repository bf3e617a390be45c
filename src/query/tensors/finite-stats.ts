// Statistics of a tensor that has values which are not finite: how many those are, and statistics of the finite ones.

import { isObject } from "#base/json/value.ts";
import { nonfiniteWords } from "#model/nonfinite-words.ts";

/** `text` is the JSON of a count as it was sent, '' when it was not. */
export function toNonfiniteCount(text: string): number | null {
  return toCount(parse(text));
}

/** `text` is the JSON of `finite` as it was sent, '' when it was not. */
export function toFiniteStats(text: string) {
  const sent = parse(text);
  if (!isObject(sent)) return null;
  const count = toCount(sent["count"]);
  if (count === null) return null;
  // A sum of finite values may still be too large for a double, and then a word says so.
  const words = isObject(sent["nonfinite"]) ? sent["nonfinite"] : {};
  const numberOf = (name: string): number | null => {
    const value = sent[name];
    return typeof value === "number" ? value : (nonfiniteWords.get(String(words[name])) ?? null);
  };
  return {
    count,
    mean: numberOf("mean"),
    std: numberOf("std"),
    min: numberOf("min"),
    max: numberOf("max"),
    norm: numberOf("norm"),
  };
}

function parse(text: string): unknown {
  return text === "" ? null : (JSON.parse(text) as unknown);
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
