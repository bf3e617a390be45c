// Values for `{name:Type}` in a query, in the text form ClickHouse reads them: the TabSeparated form of a value,
// in which strings inside an array are quoted.

export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

function formatParam(value: ParamValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "object") return `[${value.map(formatItem).join(",")}]`;
  return formatScalar(value);
}

/** Longer lists go into the text of the query: an address has a limit of about a megabyte. */
const addressCharsMax = 16_384;

/** The text of a query and what is left to be sent beside it. A long list is written as a literal of its type. */
export function placeParams(sql: string, params: Readonly<Record<string, ParamValue>>) {
  const beside = new Map<string, string>();
  let text = sql;
  for (const [name, value] of Object.entries(params)) {
    const formatted = formatParam(value);
    if (typeof value !== "object" || value === null || formatted.length <= addressCharsMax) beside.set(name, formatted);
    else
      text = text.replace(
        new RegExp(`\\{\\s*${name}\\s*:([^}]+)\\}`, "g"),
        (_, type) => `CAST(${formatted}, '${type}')`,
      );
  }
  return { sql: text, beside };
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
