// Finds the texts and numbers of a record that could be any others of their kind without breaking a rule of its schemas.
// Under a keyword that is not known here nothing is free, and every record is judged itself.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { atPointer } from "#base/json/pointer.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "#base/json/value.ts";

export const leafKind = { text: 0, whole: 1, decimal: 2 } as const;

export interface Leaf {
  /** One of `leafKind`. */
  readonly kind: number;
  /** Its place in the record's bytes; for a text, without the quotes. */
  readonly start: number;
  readonly end: number;
  readonly path: readonly (string | number)[];
}

/** A schema, and the file to which its references point. */
export interface Rule {
  readonly schema: JsonValue;
  readonly file: JsonObject;
}

/** A whole number with up to this many digits is read without loss. */
export const wholeDigitsMax = 15;

/** Keywords that only say of what kind a value is, or what is below it. Formats are not judged on arrival. */
const plainKeywords: ReadonlySet<string> = new Set([
  ...["$schema", "$id", "$defs", "$ref", "title", "description", "type", "format", "minItems", "maxItems"],
  ...["required", "properties", "additionalProperties", "items"],
]);
const referencesMax = 16;

/** The free leaves of a record that keeps these rules, in the order of its bytes. */
export function findFreeLeaves(bytes: Uint8Array, rules: readonly Rule[]): Leaf[] {
  const leaves: Leaf[] = [];
  collect(new JsonCursor(bytes), rules, [], leaves);
  return leaves;
}

/** The rules for a member of an object with these rules; null when they are unknown. */
export function rulesOfMember(rules: readonly Rule[], key: string): readonly Rule[] | null {
  return (
    understand(rules)?.map((rule) => below(rule, "properties", key) ?? toRule(rule, "additionalProperties")) ?? null
  );
}

/** Whether, if one non-empty text keeps these rules, every one does. */
export function allowAnyText(rules: readonly Rule[] | null): boolean {
  return rules !== null && understand(rules) !== null;
}

function collect(cursor: JsonCursor, rules: readonly Rule[], path: readonly (string | number)[], leaves: Leaf[]): void {
  const known = understand(rules);
  const kind = cursor.peek();
  if (known === null) cursor.skipValue();
  else if (kind === jsonKind.string) {
    cursor.readString();
    const { start, stop: end, escaped, wide } = cursor;
    if (!escaped && !wide && end > start) leaves.push({ kind: leafKind.text, start, end, path });
  } else if (kind === jsonKind.number) {
    cursor.readNumber();
    const { start, stop: end } = cursor;
    const found = kindOfNumber(cursor, known);
    if (found !== null) leaves.push({ kind: found, start, end, path });
  } else if (kind === jsonKind.object) {
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const key = cursor.text();
      // Assigning to this one key would set the prototype.
      if (key === "__proto__") cursor.skipValue();
      else collect(cursor, rulesOfMember(known, key) ?? [], [...path, key], leaves);
    }
  } else if (kind === jsonKind.array) {
    const ofItems = known.map((rule) => toRule(rule, "items"));
    let place = 0;
    for (let more = cursor.openArray(); more; more = cursor.nextItem())
      collect(cursor, ofItems, [...path, place++], leaves);
  } else cursor.skipValue();
}

function kindOfNumber({ bytes, start, stop, form }: JsonCursor, rules: readonly Rule[]): number | null {
  if (form === numberForm.integer)
    return bytes[start] !== 0x2d && stop - start <= wholeDigitsMax ? leafKind.whole : null;
  const hasExponent = bytes.subarray(start, stop).some((c) => c === 0x65 || c === 0x45);
  // 3.0 is an integer, and 3.5 is none.
  return form === numberForm.float && !hasExponent && rules.every(allowsFraction) ? leafKind.decimal : null;
}

function allowsFraction({ schema }: Rule): boolean {
  const type = keywordOf(schema, "type");
  return type === undefined || type === "number" || (Array.isArray(type) && type.includes("number"));
}

/** The rules and those to which they refer; null when one has a keyword that may require anything. */
function understand(rules: readonly Rule[], references = 0): Rule[] | null {
  const known: Rule[] = [];
  for (const rule of rules) {
    const { schema, file } = rule;
    if (schema === true) continue;
    if (!isJsonObject(schema) || references > referencesMax) return null;
    if (!Object.keys(schema).every((keyword) => isUnderstood(keyword, schema[keyword] as JsonValue))) return null;
    known.push(rule);
    const reference = keywordOf(schema, "$ref");
    if (reference === undefined) continue;
    if (typeof reference !== "string" || !reference.startsWith("#/")) return null;
    const target = atPointer(file, reference.slice(1));
    const referred = understand([{ schema: target ?? false, file }], references + 1);
    if (referred === null) return null;
    for (const one of referred) known.push(one);
  }
  return known;
}

function isUnderstood(keyword: string, value: JsonValue): boolean {
  if (keyword === "minLength") return typeof value === "number" && value <= 1;
  if (keyword === "minimum") return typeof value === "number" && value <= 0;
  return plainKeywords.has(keyword);
}

function below({ schema, file }: Rule, keyword: string, key: string): Rule | undefined {
  const inner = keywordOf(keywordOf(schema, keyword), key);
  return inner === undefined ? undefined : { schema: inner, file };
}

/** The rule of a keyword for everything below; without the keyword, anything goes. */
function toRule({ schema, file }: Rule, keyword: string): Rule {
  return { schema: keywordOf(schema, keyword) ?? true, file };
}

function keywordOf(schema: JsonValue | undefined, keyword: string): JsonValue | undefined {
  return isJsonObject(schema) && Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
}
