// What the document's tables require of each event type. An event with a missing required field or a value of the wrong type
// is refused, naming the field. In optional fields null counts as absent, because real clients send it. Words outside a list
// are only flagged. The payload of run_start is best effort by the document: only its id is looked at.

import { jsonKind } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { NumberText } from "#base/json/value.ts";
import type { FaultCode } from "#model/fault.ts";
import { type Field, type FieldSet, integerOf, readFields, textOf } from "./fields.ts";
import { words } from "./messages.ts";

type FieldType = "any" | "string" | "number" | "integer" | "object" | "boolean" | "path";

interface FieldRule {
  readonly type: FieldType;
  readonly required?: true;
  readonly words?: readonly string[];
  /** Rules for the members of an object. */
  readonly members?: Rules;
}

type Rules = { readonly [field: string]: FieldRule };

const requiredText: FieldRule = { type: "string", required: true };

const context: FieldRule = {
  type: "object",
  members: { phase: { type: "any", words: words.phase }, agg: { type: "any", words: words.agg } },
};

export const rulesOf: ReadonlyMap<string, Rules> = new Map<string, Rules>(
  Object.entries({
    run_start: {},
    run_end: {
      status: { type: "string", required: true, words: words.end },
      error: { type: "object" },
      final_metrics: { type: "object" },
      duration_ms: { type: "number" },
    },
    param: { key: requiredText, value: { type: "any", required: true }, nested_key: { type: "path" } },
    metric: {
      key: requiredText,
      value: { type: "any", required: true },
      step: { type: "any" },
      epoch: { type: "any" },
      ctx: context,
    },
    metric_batch: {
      metrics: { type: "object", required: true },
      step: { type: "any" },
      epoch: { type: "any" },
      ctx: context,
    },
    artifact: {
      path: requiredText,
      type: { type: "string", words: words.artifact },
      name: { type: "string" },
      meta: { type: "object" },
      size: { type: "number" },
      checksum: { type: "string" },
      upload: { type: "string", words: words.upload },
    },
    checkpoint: {
      step: { type: "number", required: true },
      path: requiredText,
      epoch: { type: "number" },
      metrics: { type: "object" },
      is_best: { type: "boolean" },
      best_key: { type: "string" },
      meta: { type: "object" },
    },
    status: {
      status: { type: "string", required: true, words: words.status },
      msg: { type: "string" },
      progress: {
        type: "object",
        members: { cur: { type: "number" }, total: { type: "number" }, unit: { type: "string" } },
      },
    },
    log: {
      level: { type: "string", required: true, words: words.level },
      msg: requiredText,
      logger: { type: "string" },
      step: { type: "number" },
      fields: { type: "object" },
    },
    command: {
      cmd_id: requiredText,
      type: { type: "string", required: true, words: words.command },
      payload: { type: "object" },
    },
    ack: {
      seq: { type: "integer" },
      status: { type: "string", required: true, words: words.ack },
      error: { type: "string" },
    },
    auth: { key: requiredText },
  } satisfies { [type: string]: Rules }),
);

export interface SchemaViolation {
  readonly code: FaultCode;
  /** JSON pointer of the field. */
  readonly pointer: string;
  readonly detail: string;
}

export function missing(pointer: string): SchemaViolation {
  return { code: "xtrack_missing_field", pointer, detail: `${toDotted(pointer)} is required and missing` };
}

export function invalid(pointer: string, expected: string): SchemaViolation {
  return { code: "xtrack_invalid_field", pointer, detail: `${toDotted(pointer)} must be ${expected}` };
}

function toDotted(pointer: string): string {
  return pointer === "" ? "the payload" : pointer.slice(1).replaceAll("/", ".");
}

export class RuleCheck {
  /** A word outside its list was met. */
  unlisted = false;

  /** What is wrong with the fields, or undefined. */
  check(set: FieldSet, rules: Rules, pointer: string): SchemaViolation | undefined {
    for (const name of Object.keys(rules)) {
      const rule = rules[name] as FieldRule;
      const field = set.fields.get(name);
      const refusal =
        field === undefined
          ? rule.required && missing(`${pointer}/${name}`)
          : this.checkField(set.bytes, field, rule, `${pointer}/${name}`);
      if (refusal) return refusal;
    }
    return undefined;
  }

  private checkField(bytes: Uint8Array, field: Field, rule: FieldRule, pointer: string): SchemaViolation | undefined {
    if (field.kind === jsonKind.null && rule.required === undefined) return undefined;
    if (!isOfType(bytes, field, rule.type)) return invalid(pointer, typeNames[rule.type]);
    if (rule.words !== undefined && field.kind === jsonKind.string && !rule.words.includes(textOf(bytes, field)))
      this.unlisted = true;
    if (rule.members === undefined) return undefined;
    return this.check(readFields(bytes, field.start, field.end), rule.members, pointer);
  }
}

const typeNames: { readonly [T in FieldType]: string } = {
  any: "a value",
  string: "a string",
  number: "a number",
  integer: "an integer",
  object: "an object",
  boolean: "true or false",
  path: "an array of names",
};

/** The names in `nested_key`; keys of Python dicts may also be numbers, booleans and null. */
export function readPath(bytes: Uint8Array, field: Field): string[] | undefined {
  const parsed = parseJson(bytes.subarray(field.start, field.end));
  if (!parsed.ok || !Array.isArray(parsed.value)) return undefined;
  const names: string[] = [];
  for (const item of parsed.value) {
    if (item instanceof NumberText) names.push(item.text);
    else if (item === null || typeof item !== "object") names.push(String(item));
    else return undefined;
  }
  return names;
}

function isOfType(bytes: Uint8Array, field: Field, type: FieldType): boolean {
  switch (type) {
    case "any":
      return true;
    case "string":
      return field.kind === jsonKind.string;
    case "number":
      return field.kind === jsonKind.number;
    case "integer":
      return integerOf(bytes, field) !== undefined;
    case "object":
      return field.kind === jsonKind.object;
    case "boolean":
      return field.kind === jsonKind.true || field.kind === jsonKind.false;
    case "path":
      return field.kind === jsonKind.array && readPath(bytes, field) !== undefined;
  }
}
