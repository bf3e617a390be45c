// ClickHouse SQL in tokens, as far as people's queries need them. Where the engine's own lexer has a corner that
// could be read in two ways (heredocs, typographic quotes, hexadecimal strings, escapes in names), the text is
// refused instead: nothing may mean one thing here and another there.

type TokenKind = "word" | "quoted" | "string" | "number" | "symbol";

export interface Token {
  readonly kind: TokenKind;
  /** A name without its quotes; otherwise the text itself. */
  readonly text: string;
  /** Where it starts in the query. */
  readonly at: number;
}

export interface SqlRefusal {
  readonly reason: string;
  readonly at: number;
}

export type Tokens =
  | {
      readonly ok: true;
      readonly tokens: readonly Token[];
      /** The query with each comment replaced by as many blanks, so that places in it stay the same. */
      readonly text: string;
    }
  | { readonly ok: false; readonly refusal: SqlRefusal };

const patterns: readonly (readonly [TokenKind | "blank" | "comment", RegExp])[] = [
  ["blank", /[ \t\r\n]+/y],
  ["comment", /--[^\n]*/y],
  ["comment", /\/\*[\s\S]*?\*\//y],
  ["number", /0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y],
  ["word", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["string", /'(?:[^'\\]|\\[\s\S]|'')*'/y],
  ["quoted", /`[^`\\]*`|"[^"\\]*"/y],
  ["symbol", /->|::|\|\||<=>|<=|>=|<>|!=|==|\/(?!\*)|[-()[\],.+*%<>=?:]/y],
];

export function toTokens(sql: string): Tokens {
  const tokens: Token[] = [];
  let text = "";
  let at = 0;
  /** The end of the last token, if it was no symbol. */
  let joinedTo = -1;
  while (at < sql.length) {
    const found = match(sql, at);
    if (found === null) return { ok: false, refusal: { reason: unreadable(sql, at), at } };
    const [kind, part] = found;
    text += kind === "comment" ? part.replace(/[^\n]/g, " ") : part;
    if (kind !== "blank" && kind !== "comment") {
      // `x'41'` is another spelling of a string, `1a` is not a number, and a doubled quote is part of a name: none is
      // needed, and each could be read in two ways.
      if (kind !== "symbol" && at === joinedTo)
        return { ok: false, refusal: { reason: "put a blank before this", at } };
      joinedTo = kind === "symbol" ? -1 : at + part.length;
      tokens.push({ kind, text: kind === "quoted" ? part.slice(1, -1) : part, at });
    }
    at += part.length;
  }
  return { ok: true, tokens, text };
}

function match(sql: string, at: number): readonly [TokenKind | "blank" | "comment", string] | null {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const part = pattern.exec(sql)?.[0];
    if (part !== undefined) return [kind, part];
  }
  return null;
}

function unreadable(sql: string, at: number): string {
  const char = String.fromCodePoint(sql.codePointAt(at) as number);
  if (char === ";") return "one statement at a time, without a semicolon in it";
  if (char === "/") return "this comment has no end";
  if (char === "'") return "this text has no end";
  if (char === "`" || char === '"') return "this name has no end, or a backslash in it";
  return `${JSON.stringify(char)} has no place here outside a text`;
}
