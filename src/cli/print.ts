// How commands print.

import { largestOf } from "#base/extremes.ts";
import { type Context, paint, type Style, widthOf } from "./context.ts";
import { type Column, formatTable, toPlainText } from "./table.ts";

export function printLine(context: Context, text: string): void {
  context.stdout.write(`${text}\n`);
}

export function printJson(context: Context, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, keepSign, 2)}\n`);
}

/** JSON.stringify alone writes a negative zero without its sign. */
export function keepSign(_: string, value: unknown): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return Object.is(value, -0) ? rawJSON("-0") : value;
}

/** A column is its title, where there is no more to say of it. */
export function printTable(
  context: Context,
  columns: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
): void {
  const known = columns.map((column) => (typeof column === "string" ? { title: column } : column));
  const [head = "", ...lines] = formatTable(known, rows, widthOf(context.stdout)).split("\n");
  printLine(context, paint(context.stdout, context.env, "dim", head));
  for (const line of lines) printLine(context, line);
}

/** A table whose columns say what stands in them. */
export function printRows<Row>(
  context: Context,
  rows: readonly Row[],
  columns: readonly (Column & { readonly cell: (row: Row) => string })[],
): void {
  printTable(
    context,
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
  );
}

/** `name  value` lines, the names in one column. */
export function printFields(context: Context, fields: readonly (readonly [string, string])[]): void {
  const width = largestOf(fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    if (value === "") continue;
    printLine(context, `${paint(context.stdout, context.env, "dim", name.padEnd(width))}  ${toPlainText(value)}`);
  }
}

export function printTitle(context: Context, text: string): void {
  printLine(context, `\n${paint(context.stdout, context.env, "bold", text)}`);
}

const statusStyles: Readonly<Record<string, Style>> = {
  running: "cyan",
  completed: "green",
  failed: "red",
  killed: "red",
  lost: "yellow",
};

export function paintStatus(context: Context, status: string): string {
  return paint(context.stdout, context.env, statusStyles[status] ?? "reset", status);
}
