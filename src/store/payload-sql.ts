// Reading members of stored JSON in SQL. The engine's JSON reader gives up on a whole text because of one value that it
// cannot hold: an integer beyond 64 bits, a number beyond a double, half a surrogate pair. Clients send all three (a
// path in another encoding inside an error message is enough), so such a text is repaired first: the value becomes a
// text that begins with the control character 1, which is removed again from what was read. Every other text is read as
// it is.

import { quote } from "./sql-quote.ts";

/** A JSON text cut into strings, numbers and what stands between them. */
const tokens = String.raw`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[^"0-9-]+`;

const replaced = (sql: string, pattern: string, by: string): string =>
  `replaceRegexpAll(${sql}, ${quote(pattern)}, ${quote(by)})`;

/** Repairs half pairs in a string token; escaped backslashes and whole pairs are put out of the way first. */
function mendedString(token: string): string {
  const plain = replaced(token, String.raw`\\\\`, String.raw`\\u005c`);
  const hidden = replaced(plain, String.raw`\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)`, String.raw`\\U\1\2`);
  const mended = replaced(hidden, String.raw`\\u([dD][89a-fA-F]..)`, String.raw`\\u0001u\1`);
  return replaced(mended, String.raw`\\U(....)(....)`, String.raw`\\u\1\\u\2`);
}

function mended(text: string): string {
  const isOdd = `isNull(toInt64OrNull(t)) AND isNull(toUInt64OrNull(t))
      AND (match(t, '^-?[0-9]+$') OR isInfinite(toFloat64OrZero(t)))`;
  return `arrayStringConcat(arrayMap(t -> multiIf(startsWith(t, '"'), ${mendedString("t")},
    match(t, '^-?[0-9]') AND ${isOdd}, concat('"\\\\u0001n', t, '"'), t), extractAll(${text}, ${quote(tokens)})))`;
}

const pathOf = (path: readonly string[]): string => path.map((key) => `, ${quote(key)}`).join("");

/** The text at a path of the JSON in a column; '' if there is none. A half pair stays escaped. */
export function jsonText(column: string, ...path: readonly string[]): string {
  return textAt(`isValidJSON(${column})`, column, mended(column), path);
}

/** The JSON at a path; '' when there is none. */
export function jsonRaw(column: string, ...path: readonly string[]): string {
  return rawAt(`isValidJSON(${column})`, column, mended(column), path);
}

function textAt(isPlain: string, text: string, odd: string, path: readonly string[]): string {
  const taken = `JSONExtractString(${odd}${pathOf(path)})`;
  const plain = `replaceAll(${replaced(taken, "^\u0001n", "")}, ${quote("\u0001u")}, ${quote(String.raw`\u`)})`;
  return `if(${isPlain}, JSONExtractString(${text}${pathOf(path)}), ${plain})`;
}

function rawAt(isPlain: string, text: string, odd: string, path: readonly string[]): string {
  const taken = `JSONExtractRaw(${odd}${pathOf(path)})`;
  const numbers = replaced(taken, String.raw`"\\u0001n([^"]*)"`, String.raw`\1`);
  const plain = `replaceAll(${numbers}, ${quote(String.raw`\u0001u`)}, ${quote(String.raw`\u`)})`;
  return `if(${isPlain}, JSONExtractRaw(${text}${pathOf(path)}), ${plain})`;
}

/**
 * Reads several members of one text, which is checked once: `columns` belong into an inner query, and the members are
 * taken in the outer one. The engine needs longer to analyse many long expressions than to read some rows.
 */
export function jsonMembers(column: string) {
  return {
    columns: `isValidJSON(${column}) AS is_plain, if(is_plain, ${column}, ${mended(column)}) AS readable`,
    text: (...path: readonly string[]): string => textAt("is_plain", "readable", "readable", path),
    raw: (...path: readonly string[]): string => rawAt("is_plain", "readable", "readable", path),
    has: (...path: readonly string[]): string => `JSONHas(readable${pathOf(path)})`,
  };
}

/** The integer at a path; NULL when there is none, or none of 64 bits. */
export function jsonInt(column: string, ...path: readonly string[]): string {
  return extracted(column, (text) => `JSONExtract(${text}${pathOf(path)}, 'Nullable(Int64)')`);
}

export function jsonBool(column: string, ...path: readonly string[]): string {
  return extracted(column, (text) => `JSONExtractBool(${text}${pathOf(path)})`);
}

export function jsonHas(column: string, ...path: readonly string[]): string {
  return extracted(column, (text) => `JSONHas(${text}${pathOf(path)})`);
}

function extracted(column: string, extract: (text: string) => string): string {
  return `if(isValidJSON(${column}), ${extract(column)}, ${extract(mended(column))})`;
}
