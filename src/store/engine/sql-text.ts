// The little SQL that the engine process writes or inspects itself.

import { quote } from "#store/sql-quote.ts";

/** The statement's first word in upper case, past blanks, comments and opening parentheses. */
export function firstWord(sql: string): string {
  const blank = /^(?:\s+|--[^\n]*(?:\n|$)|#[ !][^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\()*/;
  const rest = sql.slice((blank.exec(sql)?.[0] ?? "").length);
  return (/^[a-z]+/i.exec(rest)?.[0] ?? "").toUpperCase();
}

export interface InsertHead {
  /** `INSERT INTO db.table (columns)`, as it came. */
  readonly target: string;
  readonly format: string;
}

/** Splits `INSERT INTO t (a, b) FORMAT Native`, whose data follows in the body; null for any other statement. */
export function parseInsertHead(sql: string): InsertHead | null {
  const match = /^\s*(INSERT\s+INTO\s+[^;]+?)\s+FORMAT\s+([A-Za-z]+)\s*$/i.exec(sql);
  return match === null ? null : { target: match[1] as string, format: match[2] as string };
}

const settingName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** `name = 'value', …`; a name that is not an identifier would be SQL, so it is an error. */
export function formatSettings(settings: Iterable<readonly [string, string]>): string {
  return Array.from(settings, ([name, value]) => {
    if (!settingName.test(name)) throw new Error(`Code: 115. DB::Exception: Unknown setting ${JSON.stringify(name)}.`);
    return `${name} = ${quote(value)}`;
  }).join(", ");
}
