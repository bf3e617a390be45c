// Does a run match a filter? Values are compared as numbers when both sides are numbers, else as text.

import type { FieldRef } from "./field.ts";
import type { Filter, FilterOperator } from "./filter.ts";

/** A value of a field: its text, and its number when it is one. */
export interface FieldValue {
  readonly text: string;
  readonly num: number | null;
}

/** What a row has for a field; several values for lists, none when it has no such field. */
export type FieldReader<R> = (row: R) => readonly FieldValue[];

/** Where a filter finds what it looks at. */
export interface FilterSource<R> {
  readerOf(field: FieldRef): FieldReader<R>;
  /** What a bare word is looked for in. */
  wordsOf(row: R): readonly string[];
}

/** A filter as a function. What does not depend on the row is worked out once: a table may have 100,000 rows. */
export function toPredicate<R>(filter: Filter, source: FilterSource<R>, nowNs: bigint): (row: R) => boolean {
  switch (filter.kind) {
    case "and": {
      const parts = filter.parts.map((part) => toPredicate(part, source, nowNs));
      return (row) => parts.every((part) => part(row));
    }
    case "or": {
      const parts = filter.parts.map((part) => toPredicate(part, source, nowNs));
      return (row) => parts.some((part) => part(row));
    }
    case "not": {
      const part = toPredicate(filter.part, source, nowNs);
      return (row) => !part(row);
    }
    case "word": {
      const wanted = filter.text.toLowerCase();
      return (row) => source.wordsOf(row).some((word) => word.toLowerCase().includes(wanted));
    }
    case "test": {
      const read = source.readerOf(filter.field);
      if (filter.operator === "==") return (row) => groupText(read(row)) === filter.value;
      const test = toTest(filter.operator, filter.value, filter.field, nowNs);
      if (filter.operator === "!=") return (row) => !read(row).some(test);
      return (row) => read(row).some(test);
    }
  }
}

/** What a run is grouped by: the text of the first value, '' when it has none. */
export function groupText(values: readonly FieldValue[]): string {
  return values[0]?.text ?? "";
}

/** `!=` is tested as `=`; the caller negates the result over all values. */
function toTest(
  operator: Exclude<FilterOperator, "==">,
  wanted: string,
  field: FieldRef,
  nowNs: bigint,
): (value: FieldValue) => boolean {
  const number = toNumber(wanted, field, nowNs);
  switch (operator) {
    case "~":
      return (value) => like(value.text, wanted);
    case ":":
    case "=":
    case "!=":
      return toEquality(number, wanted);
    default: {
      const exact = toExact(wanted, number);
      return (value) => {
        if (number === null || value.num === null) return compares(value.text, operator, wanted);
        const other = value.num === number ? toExact(value.text, value.num) : null;
        if (exact !== null && other !== null) return compares(other, operator, exact);
        return compares(value.num, operator, number);
      };
    }
  }
}

/** An integer beyond what a double holds exactly: doubles that are equal may differ in their last digits. */
function toExact(text: string, number: number | null): bigint | null {
  if (number === null || Math.abs(number) <= Number.MAX_SAFE_INTEGER || !/^-?\d{1,400}$/.test(text)) return null;
  return Number(text) === number ? BigInt(text) : null;
}

function toEquality(number: number | null, wanted: string): (value: FieldValue) => boolean {
  const lower = wanted.toLowerCase();
  const exact = toExact(wanted, number);
  return (value) => {
    if (number !== null && value.num !== null) {
      const other = exact !== null && value.num === number ? toExact(value.text, value.num) : null;
      if (exact !== null && other !== null) return other === exact;
      return Object.is(value.num, number) || value.num === number;
    }
    return value.text.toLowerCase() === lower || (wanted.includes("*") && like(value.text, wanted));
  };
}

function compares<T extends number | bigint | string>(left: T, operator: "<" | "<=" | ">" | ">=", right: T): boolean {
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
  if (!pattern.includes("*")) return text.toLowerCase().includes(pattern.toLowerCase());
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
  const number = text.trim() === "" ? Number.NaN : Number(text);
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
