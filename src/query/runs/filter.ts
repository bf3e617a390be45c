// The filter language over runs: `status:failed AND params.lr<0.01 AND metrics.val_loss.last<2`.
//   filter := or · or := and {OR and} · and := not {AND not} · not := [NOT] ( "(" or ")" | test | word )
//   test   := field (":" "=" "==" "!=" "<" "<=" ">" ">=" "~") value
// A bare word matches name, id, experiment and tags. Mistakes are values that point at the character.

import { type FieldRef, parseField } from "./field.ts";
import { type FilterToken, tokenize } from "./filter-tokens.ts";
import { runStatuses } from "./head.ts";

export type FilterOperator = ":" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~";

export type Filter =
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter }
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "test"; readonly field: FieldRef; readonly operator: FilterOperator; readonly value: string };

export interface FilterMistake {
  readonly message: string;
  /** In characters of the filter. */
  readonly offset: number;
  readonly length: number;
}

export type ParsedFilter =
  | { readonly ok: true; readonly filter: Filter | null }
  | { readonly ok: false; readonly mistake: FilterMistake };

/** Deeper nesting is refused, so that no filter can exhaust the stack. */
const depthMax = 64;

class Mistake extends Error {
  readonly mistake: FilterMistake;

  constructor(message: string, token: FilterToken) {
    super(message);
    this.mistake = { message, offset: token.offset, length: Math.max(1, token.length) };
  }
}

/** An empty text is no filter at all. */
export function parseFilter(text: string): ParsedFilter {
  const tokens = tokenize(text);
  if ("mistake" in tokens) return { ok: false, mistake: tokens.mistake };
  if (tokens.tokens[0]?.kind === "end") return { ok: true, filter: null };
  try {
    const parser = new FilterParser(tokens.tokens);
    return { ok: true, filter: parser.parse() };
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, mistake: error.mistake };
    throw error;
  }
}

/** Every field a filter looks at. */
export function fieldsOf(filter: Filter | null): FieldRef[] {
  if (filter === null) return [];
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.parts.flatMap(fieldsOf);
    case "not":
      return fieldsOf(filter.part);
    case "word":
      return [];
    case "test":
      return [filter.field];
  }
}

class FilterParser {
  private at = 0;
  private depth = 0;
  private readonly tokens: readonly FilterToken[];

  constructor(tokens: readonly FilterToken[]) {
    this.tokens = tokens;
  }

  parse(): Filter {
    const filter = this.parseOr();
    if (this.peek.kind !== "end")
      throw new Mistake(`Expected AND, OR or the end, found ${nameOf(this.peek)}.`, this.peek);
    return filter;
  }

  private get peek(): FilterToken {
    return this.tokens[this.at] as FilterToken;
  }

  private next(): FilterToken {
    return this.tokens[this.at++] as FilterToken;
  }

  private parseOr(): Filter {
    const parts = [this.parseAnd()];
    while (this.isKeyword("OR")) {
      this.next();
      parts.push(this.parseAnd());
    }
    return parts.length === 1 ? (parts[0] as Filter) : { kind: "or", parts };
  }

  private parseAnd(): Filter {
    const parts = [this.parseNot()];
    while (this.isKeyword("AND") || this.startsTest()) {
      // Two tests side by side are both meant: "status:failed resnet".
      if (this.isKeyword("AND")) this.next();
      parts.push(this.parseNot());
    }
    return parts.length === 1 ? (parts[0] as Filter) : { kind: "and", parts };
  }

  private parseNot(): Filter {
    const token = this.peek;
    if (++this.depth > depthMax) throw new Mistake(`Nested deeper than ${depthMax}.`, token);
    try {
      if (this.isKeyword("NOT")) {
        this.next();
        return { kind: "not", part: this.parseNot() };
      }
      if (token.kind === "open") return this.parseParentheses();
      return this.parseTest();
    } finally {
      this.depth--;
    }
  }

  private parseParentheses(): Filter {
    const open = this.next();
    const inner = this.parseOr();
    if (this.peek.kind !== "close") throw new Mistake("This parenthesis is never closed.", open);
    this.next();
    return inner;
  }

  private parseTest(): Filter {
    const token = this.next();
    if (token.kind !== "text")
      throw new Mistake(`Expected a test such as status:failed, found ${nameOf(token)}.`, token);
    if (isReserved(token)) throw new Mistake(`${token.text} needs a test on both sides.`, token);
    if (this.peek.kind !== "operator") return { kind: "word", text: token.text };
    const operator = this.next();
    const value = this.next();
    if (value.kind !== "text") throw new Mistake(`Expected a value after ${operator.text}.`, operator);
    const field = parseField(token.raw);
    if ("mistake" in field) throw new Mistake(field.mistake, token);
    if (isUnknownStatus(field, operator.text, value.text))
      throw new Mistake(`There is no status "${value.text}". A status is ${runStatuses.join(", ")}.`, value);
    return { kind: "test", field, operator: operator.text as FilterOperator, value: value.text };
  }

  private startsTest(): boolean {
    const { peek } = this;
    return peek.kind === "open" || (peek.kind === "text" && !(isReserved(peek) && peek.text.toUpperCase() !== "NOT"));
  }

  private isKeyword(word: "AND" | "OR" | "NOT"): boolean {
    return isReserved(this.peek) && this.peek.text.toUpperCase() === word;
  }
}

/** A misspelt word would silently match nothing, and with `!=` everything. */
function isUnknownStatus(field: FieldRef, operator: string, value: string): boolean {
  if (field.kind !== "run" || field.name !== "status" || !/^(?::|!?=|==)$/.test(operator)) return false;
  return !value.includes("*") && !(runStatuses as readonly string[]).includes(value.toLowerCase());
}

function isReserved(token: FilterToken): boolean {
  return token.kind === "text" && !token.quoted && /^(and|or|not)$/i.test(token.text);
}

function nameOf(token: FilterToken): string {
  return token.kind === "end" ? "the end" : `"${token.text}"`;
}
