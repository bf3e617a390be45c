// The members of a JSON object as places in its bytes, for the general decoder: nothing becomes a value before it is
// needed.

import type { ByteWriter } from "#base/byte-writer.ts";
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
  /** For a string. */
  readonly escaped: boolean;
  readonly wide: boolean;
  readonly lone: boolean;
  /** For a number. */
  readonly form: number;
}

export interface FieldSet {
  readonly bytes: Uint8Array;
  /** If a name occurs twice, the last one wins. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly duplicates: boolean;
}

/** The members of the object at bytes[start..end). Throws JsonTrouble. */
export function readFields(bytes: Uint8Array, start: number, end: number): FieldSet {
  const reader = new FieldReader(bytes, start, end);
  reader.readSome(Number.POSITIVE_INFINITY);
  return reader.finish();
}

const stepFields = 2048;

/** The same, with pauses among many members. */
export function* readFieldsInSteps(bytes: Uint8Array, start: number, end: number): Generator<void, FieldSet> {
  const reader = new FieldReader(bytes, start, end);
  while (reader.readSome(stepFields)) yield;
  return reader.finish();
}

class FieldReader {
  private readonly cursor: JsonCursor;
  private readonly fields = new Map<string, Field>();
  private count = 0;
  private more: boolean;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.cursor = new JsonCursor(bytes, start, end);
    this.more = this.cursor.openObject();
  }

  /** False when the last member was read. */
  readSome(countMax: number): boolean {
    const { cursor, fields } = this;
    const last = this.count + countMax;
    for (; this.more && this.count < last; this.more = cursor.nextMember()) {
      const nameStart = cursor.start - 1;
      const nameEnd = cursor.stop + 1;
      const name = cursor.text();
      const kind = cursor.peek();
      const start = cursor.pos;
      if (kind === jsonKind.string || kind === jsonKind.number) cursor.passScalar(kind);
      else cursor.skipValue();
      const { escaped, wide, lone, form, pos: end } = cursor;
      fields.set(name, { name, nameStart, nameEnd, kind, start, end, escaped, wide, lone, form });
      this.count++;
    }
    return this.more;
  }

  finish(): FieldSet {
    const { cursor, fields, count } = this;
    cursor.finish();
    return { bytes: cursor.bytes, fields, duplicates: count !== fields.size };
  }
}

export function textOf(bytes: Uint8Array, field: Field): string {
  return decodeText(bytes, field.start + 1, field.end - 1, field.escaped, field.wide);
}

function numberOf(bytes: Uint8Array, field: Field): number | bigint | NumberText {
  return parseNumber(bytes, field.start, field.end, field.form);
}

/** An integer that fits 64 bits, even if written as 5.0; undefined otherwise. */
export function integerOf(bytes: Uint8Array, field: Field): number | bigint | undefined {
  if (field.kind !== jsonKind.number) return undefined;
  const value = numberOf(bytes, field);
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : undefined;
  return typeof value === "bigint" ? value : undefined;
}

export function isInteger64(bytes: Uint8Array, field: Field): boolean {
  return field.kind === jsonKind.number && field.form === numberForm.integer && integerOf(bytes, field) !== undefined;
}

/** Makes strict JSON of values and notes whether that lost anything. */
export class StrictTexts {
  /** A value held NaN, ±Infinity or a key twice: the original must be kept beside its strict form. */
  lossy = false;

  of(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const text = toStrictJson(bytes, start, end);
    if ((text.oddities & lossyOddities) !== 0) this.lossy = true;
    return text.bytes.subarray(text.start, text.end);
  }

  /** Writes a JSON object of these members, with pauses among many. */
  *writeObject(writer: ByteWriter, bytes: Uint8Array, fields: readonly Field[]): Generator<void, void> {
    writer.byte(0x7b);
    for (let at = 0; at < fields.length; at++) {
      if (at % stepFields === stepFields - 1) yield;
      const { nameStart, nameEnd, start, end } = fields[at] as Field;
      if (at > 0) writer.byte(0x2c);
      writer.raw(bytes, nameStart, nameEnd);
      writer.byte(0x3a);
      const text = toStrictJson(bytes, start, end);
      if ((text.oddities & lossyOddities) !== 0) this.lossy = true;
      writer.raw(text.bytes, text.start, text.end);
    }
    writer.byte(0x7d);
  }
}

/** The fields of a set that `isPicked` picks, with pauses among many. */
export function* pickFields({ fields }: FieldSet, isPicked: (field: Field) => boolean): Generator<void, Field[]> {
  const picked: Field[] = [];
  let at = 0;
  for (const field of fields.values()) {
    if (++at % stepFields === 0) yield;
    if (isPicked(field)) picked.push(field);
  }
  return picked;
}
