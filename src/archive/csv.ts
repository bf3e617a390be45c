// Rows to CSV (RFC 4180). A spreadsheet takes a cell that begins with = + - @ for a formula and runs it, so text that
// does gets an apostrophe before it; numbers stay as they are.

import { formatJson } from "#base/json/format.ts";
import type { JsonValue } from "#base/json/value.ts";

type Cell = string | number | boolean | null | readonly unknown[];

const numberText = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|Infinity)$/;

export function formatCsvRow(cells: readonly Cell[]): string {
  return `${cells.map(formatCell).join(",")}\r\n`;
}

function formatCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "boolean") return String(cell);
  if (typeof cell === "number") return Object.is(cell, -0) ? "-0" : String(cell);
  const text = typeof cell === "string" ? cell : formatJson(cell as JsonValue[], "strict");
  const safe = /^[=+\-@\t\r]/.test(text) && !numberText.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
