// Decides whether SQL that a person wrote may run. It is one of three fences: the sessions that such SQL runs on have
// no rights but SELECT on the views, are read-only and limited, and take a single SELECT; but they cannot keep a
// function from reading a file, a clause from writing one, or a sub-query from changing its settings. This guard can,
// and so can the one in the engine (`guest-fence.ts`).
//
// It does not understand SQL. It lets through one SELECT made of names, literals and operators in which every
// function and every table is on a list, and refuses what it is not sure of.

import { isAllowedFunction, tableFunctions } from "./functions.ts";
import { type SqlRefusal, type Token, toTokens } from "./tokens.ts";

export interface GuardOptions {
  /** The views, by name. */
  readonly tables: ReadonlySet<string>;
  /** The database they are in; a name may be written with it. */
  readonly database: string;
  /** Where the tables behind the views are. */
  readonly hiddenDatabase: string;
}

export type CheckedSql =
  | { readonly ok: true; readonly sql: string }
  | { readonly ok: false; readonly refusal: SqlRefusal };

const textMax = 65_536;
const tokensMax = 20_000;
const depthMax = 60;

/** Words that would be clauses, statements or transformers; a column with such a name must be quoted. */
const refusedWords: ReadonlySet<string> = new Set(
  `alter apply attach backup call check commit create delete describe detach drop exchange execute explain grant infile
  insert into kill move optimize outfile parallel rename restore revoke rollback set settings show system truncate undrop
  update use watch`.split(/\s+/),
);

/** Words that may precede a parenthesis without being a call. */
const wordsBeforeParenthesis: ReadonlySet<string> = new Set(
  `all and any anti array as asc asof between by case cross cube desc distinct div else end except exists filter
  following from full global group grouping having ilike in inner intersect interval is join left like limit mod not
  nulls offset on or order outer over partition preceding prewhere qualify replace right rollup rows range select
  semi sets then ties union using values when where window with within`.split(/\s+/),
);

/** Words that end the list of tables after FROM. */
const endOfTables: ReadonlySet<string> = new Set(
  "where prewhere group having order limit offset union except intersect qualify window select sample settings".split(
    " ",
  ),
);

/** Functions whose first of several arguments is a function; a name alone stands for one. */
const takesFunction =
  /^(?:array(?:map|filter|(?:reverse)?fill|(?:reverse)?split|first(?:index|ornull)?|last(?:index|ornull)?|min|max|sum|avg|product|count|exists|all|fold|cumsum(?:nonnegative)?|(?:partial)?(?:reverse)?sort)|map(?:apply|filter|exists|all|(?:partial)?(?:reverse)?sort))$/i;

/** Databases that are closed to people, wherever their name stands. */
const hiddenDatabases: ReadonlySet<string> = new Set(["system", "information_schema", "default"]);

/** Functions that reach outside. A function can be passed by its name alone, so the name itself is refused. */
const reaching = new RegExp(
  `^(?:${[
    "file|url|s3|remote|executable|input|chdb|hostname|fqdn|fullhostname|tcpport|uptime|serveruuid|throwif|logtrace",
    "ai(?:classify|generate|embed|extract|translate)|catboost[a-z]*|evalmlmethod|showcertificate|demangle",
    "dict[a-z]*|joinget[a-z]*|sleep[a-z]*|get[a-z]+|filesystem[a-z]*|addressto[a-z]+|current[a-z]+|version[a-z]*",
  ].join("|")})$`,
  "i",
);

const refuse = (reason: string, at: number): CheckedSql => ({ ok: false, refusal: { reason, at } });

export function checkSql(sql: string, options: GuardOptions): CheckedSql {
  const trimmed = sql.replace(/[;\s]+$/, "");
  if (trimmed.length > textMax) return refuse(`a query may have at most ${textMax} characters`, textMax);
  const read = toTokens(trimmed);
  if (!read.ok) return { ok: false, refusal: read.refusal };
  const { tokens, text } = read;
  if (tokens.length > tokensMax) return refuse("the query is too long", 0);
  const first = tokens.find((token) => token.text !== "(");
  if (first === undefined || !isWord(first, "select", "with")) {
    return refuse("only SELECT runs here, also with WITH before it", first?.at ?? 0);
  }
  const refusal = findWords(tokens, options) ?? findCalls(tokens, options) ?? findTables(tokens, options);
  return refusal === null ? { ok: true, sql: text } : { ok: false, refusal };
}

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === "word" && words.includes(token.text.toLowerCase());
}

function isName(token: Token | undefined): token is Token {
  return token?.kind === "word" || token?.kind === "quoted";
}

function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

function findWords(tokens: readonly Token[], { hiddenDatabase }: GuardOptions): SqlRefusal | null {
  for (const [i, token] of tokens.entries()) {
    if (!isName(token)) continue;
    const lower = token.text.toLowerCase();
    const next = tokens[i + 1];
    if (token.kind === "word" && refusedWords.has(lower)) {
      return { reason: `${token.text.toUpperCase()} has no place here`, at: token.at };
    }
    // FORMAT is a clause; format(…) is a function.
    if (isWord(token, "format") && !isSymbol(next, "(")) return { reason: "FORMAT has no place here", at: token.at };
    if (reaching.test(token.text)) {
      return { reason: `${token.text} is not allowed`, at: token.at };
    }
    if (isSymbol(next, ".") && (hiddenDatabases.has(lower) || token.text === hiddenDatabase)) {
      return { reason: `${token.text} is not open to SQL`, at: token.at };
    }
  }
  return null;
}

function findCalls(tokens: readonly Token[], options: GuardOptions): SqlRefusal | null {
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (isSymbol(token, "(") || isSymbol(token, "[")) depth++;
    else if (isSymbol(token, ")") || isSymbol(token, "]")) depth--;
    if (depth < 0) return { reason: "this closes nothing", at: token.at };
    if (depth > depthMax) return { reason: "nested too deeply", at: token.at };
    if (!isName(token) || !isSymbol(tokens[i + 1], "(")) continue;
    if (token.kind === "word" && wordsBeforeParenthesis.has(token.text.toLowerCase())) continue;
    if (isSymbol(tokens[i - 1], ".")) return { reason: "a function has no database", at: token.at };
    if (!isCallable(token.text, options)) {
      return { reason: `there is no function ${token.text} here`, at: token.at };
    }
    const passed = takesFunction.test(token.text) ? findPassed(tokens, i + 2) : undefined;
    if (passed !== undefined && !isPassable(tokens, passed.text)) {
      return { reason: `there is no function ${passed.text} here`, at: passed.at };
    }
  }
  return depth === 0 ? null : { reason: "a parenthesis is not closed", at: tokens.at(-1)?.at ?? 0 };
}

function isCallable(name: string, { tables }: GuardOptions): boolean {
  return (
    isAllowedFunction(name) ||
    tableFunctions.has(name.toLowerCase()) ||
    tables.has(name) ||
    name.toLowerCase() === "columns"
  );
}

/** The name that is alone the first of several arguments, with or without parentheses. */
function findPassed(tokens: readonly Token[], from: number): Token | undefined {
  let at = from;
  while (isSymbol(tokens[at], "(")) at++;
  const name = tokens[at++];
  while (isSymbol(tokens[at], ")")) at++;
  return isName(name) && isSymbol(tokens[at], ",") ? name : undefined;
}

/** Whether a name that stands for a function is one of the list, or an alias of something that is. */
function isPassable(tokens: readonly Token[], name: string, depth = 0): boolean {
  if (isAllowedFunction(name)) return true;
  const aliases = tokens.flatMap((token, at) =>
    isWord(token, "as") && isName(tokens[at + 1]) && tokens[at + 1]?.text === name ? [at] : [],
  );
  return aliases.length > 0 && depth < depthMax && aliases.every((at) => isPassableAlias(tokens, at, depth));
}

/** Anything more than a name is checked where its own calls stand. */
function isPassableAlias(tokens: readonly Token[], as: number, depth: number): boolean {
  let at = as - 1;
  while (isSymbol(tokens[at], ")")) at--;
  const defined = tokens[at];
  const before = tokens[at - 1];
  const standsAlone = isWord(before, "with", "select") || isSymbol(before, ",") || isSymbol(before, "(");
  return !isName(defined) || !standsAlone || isPassable(tokens, defined.text, depth + 1);
}

/** Names given with WITH: `name AS (`. */
function cteNames(tokens: readonly Token[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [i, token] of tokens.entries()) {
    if (isName(token) && isWord(tokens[i + 1], "as") && isSymbol(tokens[i + 2], "(")) names.add(token.text);
  }
  return names;
}

/** Follows each level of parentheses: whether a list of tables is being read there. */
function findTables(tokens: readonly Token[], options: GuardOptions): SqlRefusal | null {
  const ctes = cteNames(tokens);
  const levels: boolean[] = [false];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    const level = levels.length - 1;
    if (isSymbol(token, "(") || isSymbol(token, "[")) levels.push(false);
    else if (isSymbol(token, ")") || isSymbol(token, "]")) levels.pop();
    else if (token.kind === "word" && endOfTables.has(token.text.toLowerCase())) levels[level] = false;
    else if (isWord(token, "join") && isWord(tokens[i - 1], "array")) levels[level] = false;
    const opens = isWord(token, "from", "join") && !isWord(tokens[i - 1], "array");
    if (opens) levels[level] = true;
    const expectsTable = opens || (levels[level] === true && isSymbol(token, ",")) || isWord(token, "in");
    if (!expectsTable) continue;
    const refusal = checkTable(tokens, i + 1, ctes, options);
    if (refusal !== null) return refusal;
  }
  return null;
}

function checkTable(
  tokens: readonly Token[],
  at: number,
  ctes: ReadonlySet<string>,
  { tables, database }: GuardOptions,
): SqlRefusal | null {
  const first = tokens[at];
  // A sub-query, a list or a literal; a sub-query is checked at its own FROM.
  if (!isName(first)) return null;
  if (isSymbol(tokens[at + 1], "(")) {
    const isKnown = tables.has(first.text) || tableFunctions.has(first.text.toLowerCase());
    const isList = first.kind === "word" && ["tuple", "array"].includes(first.text.toLowerCase());
    return isKnown || isList ? null : { reason: `${first.text} is no table`, at: first.at };
  }
  const isCompound = isSymbol(tokens[at + 1], ".");
  const second = tokens[at + 2];
  if (isCompound && first.text === database && isName(second)) {
    return tables.has(second.text) ? null : { reason: `there is no table ${second.text}`, at: second.at };
  }
  if (!isCompound && (tables.has(first.text) || ctes.has(first.text))) return null;
  return { reason: `there is no table ${first.text}`, at: first.at };
}
