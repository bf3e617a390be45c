// Reading members of stored JSON in SQL. The engine's JSON reader gives up on a whole text for one value it cannot hold:
// an integer beyond 64 bits, a number beyond a double, half a surrogate pair. Clients send all three (a path in another
// encoding inside an error's message is enough), so such a text is mended first: the value becomes a text that begins
// with the control character 1, which is taken off again from what was read. Every other text is read as it stands.

/** A JSON text cut into strings, numbers and what stands between them. */
const tokens = String.raw`"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[^"0-9-]+`;

const literal = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
const replaced = (sql: string, pattern: string, by: string): string =>
  `replaceRegexpAll(${sql}, ${literal(pattern)}, ${literal(by)})`;

/** Half pairs, in a string token: escaped backslashes and whole pairs are put out of the way first. */
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
    match(t, '^-?[0-9]') AND ${isOdd}, concat('"\\\\u0001n', t, '"'), t), extractAll(${text}, ${literal(tokens)})))`;
}

const pathOf = (path: readonly string[]): string => path.map((key) => `, ${literal(key)}`).join("");

/** The text at a path of the JSON in a column; '' when there is none. A half pair stands as it was escaped. */
export function jsonText(column: string, ...path: readonly string[]): string {
  const odd = `JSONExtractString(${mended(column)}${pathOf(path)})`;
  const plain = `replaceAll(${replaced(odd, "^\u0001n", "")}, ${literal("\u0001u")}, ${literal(String.raw`\u`)})`;
  return `if(isValidJSON(${column}), JSONExtractString(${column}${pathOf(path)}), ${plain})`;
}

/** The JSON at a path; '' when there is none. */
export function jsonRaw(column: string, ...path: readonly string[]): string {
  const odd = `JSONExtractRaw(${mended(column)}${pathOf(path)})`;
  const numbers = replaced(odd, String.raw`"\\u0001n([^"]*)"`, String.raw`\1`);
  const plain = `replaceAll(${numbers}, ${literal(String.raw`\u0001u`)}, ${literal(String.raw`\u`)})`;
  return `if(isValidJSON(${column}), JSONExtractRaw(${column}${pathOf(path)}), ${plain})`;
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
