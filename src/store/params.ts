// Values for `{name:Type}` in a query, in the text form ClickHouse reads them: the TabSeparated form of a value,
// in which strings inside an array are quoted.

export type ParamValue = string | number | bigint | boolean | null | readonly ParamValue[];

export function formatParam(value: ParamValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "object") return `[${value.map(formatItem).join(",")}]`;
  return formatScalar(value);
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
