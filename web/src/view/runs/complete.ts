// Completion in the filter box: which word the caret is in, and what may stand there.

import type { FieldInfo } from "#api/contract/run.ts";
import type { Suggestion } from "../../part/suggestions.tsx";
import { countOf } from "../../text/format-number.ts";

export interface Completion {
  /** The part of the text a suggestion replaces. */
  readonly from: number;
  readonly to: number;
  readonly suggestions: Suggestion[];
}

const joiners: readonly Suggestion[] = [
  { text: "AND", note: "both" },
  { text: "OR", note: "either" },
  { text: "NOT", note: "not the next" },
];

const suggestionsMax = 8;

export function completeFilter(text: string, caret: number, fields: readonly FieldInfo[]): Completion {
  const before = text.slice(0, caret);
  const value = /(?:^|[\s(])((?:[\w./@-]|"[^"]*")+)\s*(!=|==|<=|>=|:|=|<|>|~)\s*("?)([^\s()"]*)$/.exec(before);
  if (value !== null) return completeValue(value, caret, fields);
  const word = /[^\s()]*$/.exec(before)?.[0] ?? "";
  const from = caret - word.length;
  // After a finished test, only a joining word can follow.
  if (/(?:[^\s(]\s+)$/.test(before) && word === "" && !/(?:AND|OR|NOT)\s+$/i.test(before)) {
    return { from, to: caret, suggestions: joiners.slice(0, 2) };
  }
  const asked = word.toLowerCase();
  const found = fields
    .filter((field) => field.field.toLowerCase().includes(asked))
    .sort((a, b) => rank(a.field, asked) - rank(b.field, asked) || b.runs - a.runs)
    .slice(0, suggestionsMax)
    .map((field) => ({ text: quoteField(field.field), note: noteOf(field) }));
  return { from, to: caret, suggestions: found };
}

/** Of a run's own fields nobody counts how many runs have them. */
function noteOf(field: FieldInfo): string {
  if (field.kind === "run") return field.type;
  return `${field.type}, ${countOf(field.runs, "run")}`;
}

function completeValue(found: RegExpExecArray, caret: number, fields: readonly FieldInfo[]): Completion {
  const [, name = "", , quote = "", part = ""] = found;
  const field = fields.find((each) => each.field === name.replaceAll('"', ""));
  const asked = part.toLowerCase();
  const suggestions = (field?.examples ?? [])
    .filter((example) => example.toLowerCase().includes(asked) && example.toLowerCase() !== asked)
    .slice(0, suggestionsMax)
    .map((example) => ({ text: quoteValue(example), note: "" }));
  return { from: caret - part.length - quote.length, to: caret, suggestions };
}

function rank(field: string, asked: string): number {
  const text = field.toLowerCase();
  if (text.startsWith(asked)) return 0;
  return text.includes(`.${asked}`) ? 1 : 2;
}

/** A name with odd characters stands in double quotes after its kind. */
export function quoteField(field: string): string {
  const found = /^(params|metrics)\.(.+)$/.exec(field);
  if (found?.[2] === undefined || found[2].startsWith('"') || /^[\w./@-]+$/.test(found[2])) return field;
  if (found[1] === "params") return `params."${found[2]}"`;
  const at = found[2].lastIndexOf(".");
  return `metrics."${found[2].slice(0, at)}"${found[2].slice(at)}`;
}

export function quoteValue(value: string): string {
  return /^[\w./@+-]+$/.test(value) ? value : `"${value.replaceAll('"', '\\"')}"`;
}

/** The text after taking a suggestion, and where the caret then stands. */
export function applySuggestion(text: string, completion: Completion, taken: string): { text: string; caret: number } {
  const next = `${text.slice(0, completion.from)}${taken}${text.slice(completion.to)}`;
  return { text: next, caret: completion.from + taken.length };
}
