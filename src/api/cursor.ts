// Where the next page of a list begins: the sort values of the last row, as base64url of JSON. Clients pass it back unread.

import { Refusal } from "./refusal.ts";

type CursorValue = string | number | null;

export function encodeCursor(values: readonly CursorValue[] | null): string | null {
  if (values === null) return null;
  return Buffer.from(`[${values.map(formatValue).join()}]`).toString("base64url");
}

/** JSON has no word for infinity, but a number that is too great is read as it. */
function formatValue(value: CursorValue): string {
  if (value === Number.POSITIVE_INFINITY) return "1e999";
  return value === Number.NEGATIVE_INFINITY ? "-1e999" : JSON.stringify(value);
}

export function decodeCursor(cursor: string | undefined): CursorValue[] | null {
  if (cursor === undefined) return null;
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(values) && values.every(isCursorValue)) return values;
  } catch {
    // Falls through: text that is not JSON is not a cursor.
  }
  throw refuseCursor();
}

function isCursorValue(value: unknown): value is CursorValue {
  return value === null || typeof value === "string" || typeof value === "number";
}

function refuseCursor(): Refusal {
  return new Refusal("cursor_invalid", "This is not a cursor of an earlier page.", {
    hint: "Pass `next` of the page before, unchanged, with the same filter and sort.",
    at: { part: "query", name: "cursor" },
  });
}

export const int64 = /^-?\d{1,19}$/;
export const anyText = /^/;

/** Of a list whose cursors have as many values as there are patterns, each of them like its pattern. */
export function decodeTexts(cursor: string | undefined, ...patterns: readonly RegExp[]): string[] | null {
  const texts = decodeCursor(cursor)?.map(String) ?? null;
  if (texts === null) return null;
  if (texts.length === patterns.length && texts.every((text, at) => patterns[at]?.test(text))) return texts;
  throw refuseCursor();
}

/** A time, then the place of a row: whose journal, the record in it and the row in that. */
export type PlaceCursor = readonly [time: string, collector: string, jpos: string, jrow: string];

export function decodePlaceCursor(cursor: string | undefined): PlaceCursor | null {
  return decodeTexts(cursor, int64, /^\w{0,64}$/, int64, int64) as PlaceCursor | null;
}

export function nextCursor<R>(rows: readonly R[], limit: number, key: (row: R) => CursorValue[]): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < limit ? null : encodeCursor(key(last));
}
