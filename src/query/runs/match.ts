// Does a run match a filter? Values are compared as numbers when both sides are numbers, else as text.

import type { FieldRef } from "./field.ts";
import type { Filter, FilterOperator } from "./filter.ts";

/** A value of a field: its text, and its number when it is one. */
export interface FieldValue {
  readonly text: string;
  readonly num: number | null;
}

/** What a run has for a field; several for lists, none when it has no such field. */
export type FieldLookup = (field: FieldRef) => readonly FieldValue[];

export interface MatchContext {
  readonly lookup: FieldLookup;
  /** What a bare word is looked for in. */
  readonly words: readonly string[];
  readonly nowNs: bigint;
}

export function matches(filter: Filter, context: MatchContext): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => matches(part, context));
    case "or":
      return filter.parts.some((part) => matches(part, context));
    case "not":
      return !matches(filter.part, context);
    case "word":
      return context.words.some((word) => contains(word, filter.text));
    case "test":
      return matchesTest(context.lookup(filter.field), filter.operator, filter.value, filter.field, context.nowNs);
  }
}

function matchesTest(
  values: readonly FieldValue[],
  operator: FilterOperator,
  wanted: string,
  field: FieldRef,
  nowNs: bigint,
): boolean {
  if (operator === "!=") return !values.some((value) => equals(value, wanted, field, nowNs));
  return values.some((value) => {
    switch (operator) {
      case ":":
      case "=":
        return equals(value, wanted, field, nowNs);
      case "~":
        return like(value.text, wanted);
      default:
        return compares(value, operator, toNumber(wanted, field, nowNs), wanted);
    }
  });
}

function equals(value: FieldValue, wanted: string, field: FieldRef, nowNs: bigint): boolean {
  const number = toNumber(wanted, field, nowNs);
  if (number !== null && value.num !== null) return Object.is(value.num, number) || value.num === number;
  if (value.text.toLowerCase() === wanted.toLowerCase()) return true;
  return wanted.includes("*") && like(value.text, wanted);
}

function compares(
  value: FieldValue,
  operator: "<" | "<=" | ">" | ">=",
  number: number | null,
  wanted: string,
): boolean {
  const [left, right] = number !== null && value.num !== null ? [value.num, number] : [value.text, wanted];
  if (typeof left !== typeof right) return false;
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

/** A case-insensitive part of the text, or a whole-text pattern when it has a `*`. */
export function like(text: string, pattern: string): boolean {
  if (!pattern.includes("*")) return contains(text, pattern);
  const parts = pattern.toLowerCase().split("*");
  const lower = text.toLowerCase();
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  if (!lower.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = lower.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return lower.length - last.length >= at && lower.endsWith(last);
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

const durationUnits: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
  d: 86400e9,
  w: 604800e9,
};

/** The number a value stands for: a plain number, a duration (14.2s) in ns, a time (RFC 3339, -2h) in ns. */
export function toNumber(text: string, field: FieldRef, nowNs: bigint): number | null {
  if (text === "NaN") return Number.NaN;
  const number = text === "" ? Number.NaN : Number(text);
  const isTime = field.kind === "run" && (field.name === "start" || field.name === "end" || field.name === "updated");
  const isDuration = field.kind === "run" && field.name === "duration";
  if (!isTime && !isDuration) return Number.isNaN(number) ? null : number;
  const duration = /^(-?\d+(?:\.\d+)?)(ns|us|ms|s|min|m|h|d|w)$/.exec(text);
  if (duration !== null) {
    const ns = Number(duration[1]) * (durationUnits[duration[2] as string] as number);
    return isTime ? Number(nowNs) + (ns > 0 ? -ns : ns) : ns;
  }
  if (isDuration) return Number.isNaN(number) ? null : number * 1e9;
  const parsed = Date.parse(text);
  if (!Number.isNaN(parsed)) return parsed * 1e6;
  return Number.isNaN(number) ? null : number;
}
