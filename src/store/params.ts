// Values for `{name:Type}` in a query: beside it, in the text form ClickHouse reads them (the TabSeparated form of a value,
// in which strings inside an array are quoted), or in it, as literals of their types.

export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

export type Params = Readonly<Record<string, ParamValue>>;

function formatParam(value: ParamValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "object") return `[${value.map(formatItem).join(",")}]`;
  return formatScalar(value);
}

/** Longer lists go into the query: an address is limited to about a megabyte. */
const addressCharsMax = 16_384;

/** The query, with each long list written as a literal of its type, and the values that are sent beside it. */
export function placeParams(query: string, params: Params) {
  const beside = new Map<string, string>();
  const long: Record<string, ParamValue> = {};
  for (const [name, value] of Object.entries(params)) {
    const formatted = formatParam(value);
    if (Array.isArray(value) && formatted.length > addressCharsMax) long[name] = value;
    else beside.set(name, formatted);
  }
  return { sql: writeParams(query, long), beside };
}

/** A text or a comment, in which nothing is a place for a value, whatever it looks like; or a place, with its name and type. */
const textOrPlace = /'[^'\\]*(?:\\.[^'\\]*)*'|--[^\n]*|\{\s*(\w+)\s*:\s*([^}]+)\}/gs;

/** The query with these values written as literals of their types. */
export function writeParams(query: string, params: Params): string {
  const literals = new Map(Object.entries(params).map(([name, value]) => [name, formatItem(value)]));
  if (literals.size === 0) return query;
  // All of them at once: a text in one value may look like the place of another.
  return query.replace(textOrPlace, (found, name?: string, type?: string) => {
    const literal = name === undefined ? undefined : literals.get(name);
    if (literal === undefined) return found;
    return type === "String" ? literal : `CAST(${literal}, '${type}')`;
  });
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
