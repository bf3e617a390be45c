// The members of a JSON object as places in its bytes, for the general decoder: nothing becomes a value before
// something asks for it.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { parseNumber } from "#base/json/number.ts";
import { lossyOddities, toStrictJson } from "#base/json/strict.ts";
import { decodeText } from "#base/json/text.ts";
import type { NumberText } from "#base/json/value.ts";

export interface Field {
  readonly name: string;
  /** The key with its quotes: bytes[nameStart..nameEnd). */
  readonly nameStart: number;
  readonly nameEnd: number;
  /** One of `jsonKind`. */
  readonly kind: number;
  /** The value's text: bytes[start..end), a string with its quotes. */
  readonly start: number;
  readonly end: number;
  /** Of a string. */
  readonly escaped: boolean;
  readonly wide: boolean;
  readonly lone: boolean;
  /** Of a number. */
  readonly form: number;
}

export interface FieldSet {
  readonly bytes: Uint8Array;
  /** The last one wins where a name comes twice. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly duplicates: boolean;
}

/** The members of the object at bytes[start..end). Throws JsonTrouble. */
export function readFields(bytes: Uint8Array, start: number, end: number): FieldSet {
  const cursor = new JsonCursor(bytes, start, end);
  const fields = new Map<string, Field>();
  let count = 0;
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const nameStart = cursor.start - 1;
    const nameEnd = cursor.stop + 1;
    const name = decodeText(bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    const kind = cursor.peek();
    const valueStart = cursor.pos;
    if (kind === jsonKind.string || kind === jsonKind.number) cursor.passScalar(kind);
    else cursor.skipValue();
    const { escaped, wide, lone, form, pos } = cursor;
    fields.set(name, { name, nameStart, nameEnd, kind, start: valueStart, end: pos, escaped, wide, lone, form });
    count++;
  }
  cursor.finish();
  return { bytes, fields, duplicates: count !== fields.size };
}

export function textOf(bytes: Uint8Array, field: Field): string {
  return decodeText(bytes, field.start + 1, field.end - 1, field.escaped, field.wide);
}

function numberOf(bytes: Uint8Array, field: Field): number | bigint | NumberText {
  return parseNumber(bytes, field.start, field.end, field.form);
}

/** An integer that fits 64 bits, also when it is written as 5.0; undefined otherwise. */
export function integerOf(bytes: Uint8Array, field: Field): number | bigint | undefined {
  if (field.kind !== jsonKind.number) return undefined;
  const value = numberOf(bytes, field);
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === "bigint" ? value : undefined;
}

export function isInteger64(bytes: Uint8Array, field: Field): boolean {
  return field.kind === jsonKind.number && field.form === numberForm.integer && integerOf(bytes, field) !== undefined;
}

/** Strict JSON of values, gathering whether strict JSON was enough to hold them. */
export class StrictTexts {
  /** A value held NaN, ±Infinity or a key twice: the original must be kept beside its strict form. */
  lossy = false;

  of(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const text = toStrictJson(bytes, start, end);
    if ((text.oddities & lossyOddities) !== 0) this.lossy = true;
    return text.bytes.subarray(text.start, text.end);
  }

  /** A JSON object of these members. */
  object(bytes: Uint8Array, fields: Iterable<Field>): string {
    let text = "";
    for (const field of fields) {
      const member = `${utf8.decode(bytes.subarray(field.nameStart, field.nameEnd))}:${utf8.decode(this.of(bytes, field.start, field.end))}`;
      text += text === "" ? member : `,${member}`;
    }
    return `{${text}}`;
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
