// Completion for the SQL box: tables, the columns of the tables named in the query, functions, keywords.

import type { SqlSchemaAnswer } from "#api/contract/sql.ts";
import type { Suggestion } from "../../part/suggestions.tsx";

const keywords = "SELECT,FROM,WHERE,GROUP BY,ORDER BY,LIMIT,HAVING,JOIN,ON,AS,WITH,DESC,AND,OR,DISTINCT,BETWEEN".split(
  ",",
);

const suggestionsMax = 8;

/** The word before the caret and what it may become. */
export function completeSql(
  text: string,
  caret: number,
  schema: SqlSchemaAnswer | undefined,
): { from: number; suggestions: Suggestion[] } {
  const word = /[A-Za-z_][\w.]*$/.exec(text.slice(0, caret))?.[0] ?? "";
  const from = caret - word.length;
  if (word === "" || schema === undefined) return { from, suggestions: [] };
  const asked = word.toLowerCase();
  const named = schema.tables.filter((table) => new RegExp(`\\b${table.name}\\b`).test(text));
  const columns = (named.length > 0 ? named : schema.tables).flatMap((table) =>
    table.columns.map((column) => ({ text: column.name, note: `${table.name} · ${column.type}` })),
  );
  const all = [
    ...schema.tables.map((table) => ({ text: table.name, note: table.means === "" ? "table" : table.means })),
    ...columns,
    ...keywords.map((keyword) => ({ text: keyword, note: "" })),
    ...schema.functions.map((name) => ({ text: `${name}(`, note: "function" })),
  ];
  const seen = new Set<string>();
  const suggestions = all.filter((each) => {
    const fits = each.text.toLowerCase().startsWith(asked) && each.text.toLowerCase() !== asked && !seen.has(each.text);
    if (fits) seen.add(each.text);
    return fits;
  });
  return { from, suggestions: suggestions.slice(0, suggestionsMax) };
}

/** Which columns to draw against which: the first number as x, the other numbers as lines. */
export function chartColumns(columns: readonly { name: string; type: string }[]): { x: number; ys: number[] } | null {
  const numbers = columns.flatMap((column, i) => (/Int|Float|Decimal/.test(column.type) ? [i] : []));
  const [x, ...ys] = numbers;
  return x === undefined || ys.length === 0 ? null : { x, ys: ys.slice(0, 8) };
}
