// Tokens of the filter language. Text may be quoted, wholly (`name:"a b"`) or in part (`params."my key"`).

import type { FilterMistake } from "./filter.ts";

export interface FilterToken {
  readonly kind: "text" | "operator" | "open" | "close" | "end";
  /** Without quotes. */
  readonly text: string;
  /** As written. */
  readonly raw: string;
  readonly quoted: boolean;
  readonly offset: number;
  readonly length: number;
}

const operator = /^(?:!=|==|<=|>=|[:=<>~])/;
const plainText = /^[^\s()":=<>~!]+/;
const quotedText = /^"(?:[^"\\]|\\.)*"/s;

export function tokenize(filter: string): { tokens: FilterToken[] } | { mistake: FilterMistake } {
  const tokens: FilterToken[] = [];
  let at = 0;
  while (at < filter.length) {
    const rest = filter.slice(at);
    const blank = /^\s+/.exec(rest);
    if (blank !== null) {
      at += blank[0].length;
      continue;
    }
    const token = nextToken(rest, at, tokens.at(-1));
    if ("mistake" in token) return token;
    tokens.push(token);
    at += token.length;
  }
  tokens.push({ kind: "end", text: "", raw: "", quoted: false, offset: filter.length, length: 0 });
  return { tokens };
}

function nextToken(
  rest: string,
  offset: number,
  before: FilterToken | undefined,
): FilterToken | { mistake: FilterMistake } {
  const bracket = rest[0] === "(" ? "open" : rest[0] === ")" ? "close" : null;
  if (bracket !== null)
    return { kind: bracket, text: rest[0] as string, raw: rest[0] as string, quoted: false, offset, length: 1 };
  const sign = operator.exec(rest)?.[0];
  if (sign !== undefined)
    return { kind: "operator", text: sign, raw: sign, quoted: false, offset, length: sign.length };
  return textToken(rest, offset, before?.kind === "operator");
}

/** After an operator a text runs to the next blank or bracket, so that times (12:30) and urls need no quotes. */
function textToken(rest: string, offset: number, isValue: boolean): FilterToken | { mistake: FilterMistake } {
  const plain = isValue ? /^[^\s()"]+/ : plainText;
  let raw = "";
  let text = "";
  let quoted = false;
  while (raw.length < rest.length) {
    const left = rest.slice(raw.length);
    const quote = quotedText.exec(left)?.[0];
    const part = quote ?? plain.exec(left)?.[0];
    if (part === undefined) break;
    if (quote === undefined) text += part;
    else {
      quoted = true;
      text += part.slice(1, -1).replace(/\\(.)/gs, "$1");
    }
    raw += part;
  }
  if (raw === "") {
    const message = rest[0] === '"' ? "This quote is never closed." : `Unexpected "${rest[0]}".`;
    return { mistake: { message, offset, length: 1 } };
  }
  return { kind: "text", text, raw, quoted, offset, length: raw.length };
}
