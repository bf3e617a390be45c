// Values for `{name:Type}` in a query, in the text form ClickHouse reads them: the TabSeparated form of a value,
// in which strings inside an array are quoted.

export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

function formatParam(value: ParamValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "object") return `[${value.map(formatItem).join(",")}]`;
  return formatScalar(value);
}

/** Longer lists go into the query: an address is limited to about a megabyte. */
const addressCharsMax = 16_384;

/** The query, with each long list written as a literal of its type, and the values that are sent beside it. */
export function placeParams(query: string, params: Readonly<Record<string, ParamValue>>) {
  const beside = new Map<string, string>();
  const long = new Map<string, string>();
  for (const [name, value] of Object.entries(params)) {
    const formatted = formatParam(value);
    const isLong = Array.isArray(value) && formatted.length > addressCharsMax;
    (isLong ? long : beside).set(name, formatted);
  }
  if (long.size === 0) return { sql: query, beside };
  // All of them at once: a text in one list may look like the place of another.
  const sql = query.replace(/\{\s*(\w+)\s*:\s*([^}]+)\}/g, (place, name: string, type: string) => {
    const formatted = long.get(name);
    return formatted === undefined ? place : `CAST(${formatted}, '${type}')`;
  });
  return { sql, beside };
}

function formatItem(value: ParamValue): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `'${escapeText(value)}'`;
  return formatParam(value);
}

function formatScalar(value: number | bigint | boolean): string {
  if (typeof value !== "number" || Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  "\0": "\\0",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function escapeText(text: string): string {
  return text.toWellFormed().replace(/[\\'\0\b\f\n\r\t]/g, (char) => escapes[char] as string);
}
