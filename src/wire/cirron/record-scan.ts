// The first half of reading a span, mark or snapshot: where each of its fields stands in the bytes.
// Nothing is stored yet, so a record that turns out to be unusable leaves no trace in the columns; fields may come
// in any order, and of a field that comes twice the last one counts. The second half (`*-rows.ts`) pushes columns.

import { type JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { lossyOddities, rewriteStrict, StrictScan } from "#base/json/strict.ts";
import { decodeText } from "#base/json/text.ts";
import { endOfPlainDigits, endOfPlainText, WordToken } from "#base/json/words.ts";
import type { IntegerMemo, WordMemo } from "./token-memo.ts";

/** Bits of `bits` for a string. */
export const textBits = { escaped: 1, wide: 2 } as const;
/** `bits` of an object or array: 1 when its text is strict JSON as it stands. */
const strictBit = 1;

/** The letters `null` as a word. */
const nullWord = 0x6c6c756e;

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

interface UnknownField {
  /** The name with its quotes, as it was sent. */
  readonly token: string;
  readonly from: number;
  readonly to: number;
}

/** The fields that one kind of record has, in the order real clients write them; made once. */
export class RecordFields {
  readonly names: readonly string[];
  /** What stands before each value in a compact record: `{` or `,`, the name in quotes, a colon. */
  readonly tokens: readonly WordToken[];
  readonly fieldOf: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.names = names;
    this.tokens = names.map((name, field) => new WordToken(`${field === 0 ? "{" : ","}"${name}":`));
    this.fieldOf = new Map(names.map((name, field) => [name, field]));
  }
}

/** Reads one field's value in its own way while the record is scanned, or passes nothing and returns false. */
export interface FieldReader {
  tryRead(cursor: JsonCursor, view: DataView): boolean;
}

export class RecordScan {
  readonly cursor: JsonCursor;
  /** Over the cursor's bytes. */
  readonly view: DataView;
  readonly names: readonly string[];
  /** Per field: `jsonKind`, 0 when it is absent. */
  readonly kinds: Uint8Array;
  /** Per field: its text is `bytes[from..to)`, of a string without the quotes. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Per field: `textBits` of a string, `numberForm` of a number. */
  readonly bits: Uint8Array;
  /** The record itself, with its braces. */
  recordFrom = 0;
  recordTo = 0;
  /** Strict JSON cannot say what the record said: its exact text must be kept. */
  lossy = false;
  /** A text field holds half of a surrogate pair. */
  lone = false;
  /** Per field, made when first asked for: what its tokens became before. */
  readonly words: (WordMemo | undefined)[];
  readonly integers: (IntegerMemo | undefined)[];

  private readonly fields: RecordFields;
  private readonly strict: StrictScan;
  private readonly unknown = new Map<string, UnknownField>();
  /** Fields whose value fits no column, one bit each. */
  private odd = 0;

  private readonly ownReader: FieldReader | null;
  private readonly ownField: number;

  constructor(cursor: JsonCursor, fields: RecordFields, ownField = -1, ownReader: FieldReader | null = null) {
    const count = fields.names.length;
    this.cursor = cursor;
    this.view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.length);
    this.fields = fields;
    this.names = fields.names;
    this.kinds = new Uint8Array(count);
    this.from = new Int32Array(count);
    this.to = new Int32Array(count);
    this.bits = new Uint8Array(count);
    this.words = new Array(count).fill(undefined);
    this.integers = new Array(count).fill(undefined);
    this.strict = new StrictScan(cursor);
    this.ownField = ownField;
    this.ownReader = ownReader;
  }

  /** Passes one record; the cursor stands at its brace. */
  read(): void {
    const { cursor } = this;
    this.recordFrom = cursor.pos;
    this.lossy = false;
    this.lone = false;
    this.odd = 0;
    if (this.unknown.size > 0) this.unknown.clear();
    this.kinds.fill(0);
    cursor.depth++;
    const count = this.readInOrder();
    cursor.depth--;
    if (count < this.names.length || cursor.bytes[cursor.pos] !== 0x7d || cursor.pos >= cursor.end) {
      this.readRest(count);
    } else cursor.pos++;
    this.recordTo = cursor.pos;
  }

  /**
   * Passes the fields that stand where real clients write them, without blanks; returns how many. This is where most
   * bytes of a batch go by: everything that is not plain is left to the cursor.
   */
  private readInOrder(): number {
    const { cursor, view, kinds, from, to, bits } = this;
    const { tokens } = this.fields;
    const { end } = cursor;
    let p = cursor.pos;
    let field = 0;
    for (; field < tokens.length; field++) {
      const token = tokens[field] as WordToken;
      if (!token.isAt(view, p, end)) break;
      p += token.size;
      const c = p + 4 <= end ? view.getUint8(p) : 0;
      if (c === 0x22) {
        const stop = endOfPlainText(view, p + 1, end);
        if (stop >= 0) {
          kinds[field] = jsonKind.string;
          from[field] = p + 1;
          to[field] = stop;
          bits[field] = 0;
          p = stop + 1;
          continue;
        }
      } else if (c >= 0x30 && c <= 0x39) {
        const stop = endOfPlainDigits(view, p, end);
        if (stop >= 0) {
          kinds[field] = jsonKind.number;
          from[field] = p;
          to[field] = stop;
          bits[field] = numberForm.integer;
          p = stop;
          continue;
        }
      } else if (c === 0x6e && view.getInt32(p, true) === nullWord) {
        kinds[field] = jsonKind.null;
        from[field] = p;
        p += 4;
        to[field] = p;
        continue;
      }
      cursor.pos = p;
      this.readValue(field);
      p = cursor.pos;
    }
    cursor.pos = p;
    return field;
  }

  /** Passes the fields behind the first `count`, in any order and with blanks. */
  private readRest(count: number): void {
    const { cursor, kinds } = this;
    if (count > 0) cursor.depth++;
    for (let more = count > 0 ? cursor.passComma() : cursor.enterObject(); more; more = cursor.passComma()) {
      const field = this.readKey();
      if (field < 0) continue;
      if (kinds[field] !== 0) this.lossy = true;
      this.readValue(field);
    }
  }

  isAbsent(field: number): boolean {
    return this.kinds[field] === 0;
  }

  isText(field: number): boolean {
    return this.kinds[field] === jsonKind.string;
  }

  isInteger(field: number): boolean {
    return this.kinds[field] === jsonKind.number && this.bits[field] === numberForm.integer;
  }

  /** The text of a string field. */
  text(field: number): string {
    const bits = this.bits[field] as number;
    const { escaped, wide } = textBits;
    const from = this.from[field] as number;
    const to = this.to[field] as number;
    return decodeText(this.cursor.bytes, from, to, (bits & escaped) !== 0, (bits & wide) !== 0);
  }

  /** The field's value as it was sent, for `extra` and messages. */
  sent(field: number): string {
    const kind = this.kinds[field] as number;
    const quote = kind === jsonKind.string ? 1 : 0;
    const from = (this.from[field] as number) - quote;
    return textDecoder.decode(this.cursor.bytes.subarray(from, (this.to[field] as number) + quote));
  }

  /** Whether an object or array stands in strict form; if not, `strictBytes` makes one. */
  isStrict(field: number): boolean {
    return this.bits[field] === strictBit;
  }

  strictBytes(field: number): Uint8Array {
    const quote = this.isText(field) ? 1 : 0;
    return rewriteStrict(this.cursor.bytes, (this.from[field] as number) - quote, (this.to[field] as number) + quote);
  }

  /** Says that the field's value fits no column; it goes to `extra`. */
  keepInExtra(field: number): void {
    this.odd |= 1 << field;
    if (this.kinds[field] === jsonKind.number && this.bits[field] === numberForm.nonFinite) this.lossy = true;
  }

  hasExtra(): boolean {
    return this.odd !== 0 || this.unknown.size > 0;
  }

  /** Unknown fields and odd values as one strict JSON object. */
  formatExtra(): string {
    const members: string[] = [];
    for (let field = 0; field < this.names.length; field++) {
      if ((this.odd & (1 << field)) === 0) continue;
      members.push(`"${this.names[field]}":${textDecoder.decode(this.strictBytes(field))}`);
    }
    const { bytes } = this.cursor;
    for (const { token, from, to } of this.unknown.values()) {
      members.push(`${token}:${textDecoder.decode(rewriteStrict(bytes, from, to))}`);
    }
    return `{${members.join(",")}}`;
  }

  /** The field of the next key; -1 when it is no known one, and then its value is passed too. */
  private readKey(): number {
    const { cursor } = this;
    cursor.readKey();
    const { bytes, start, stop } = cursor;
    const name = decodeText(bytes, start, stop, cursor.escaped, cursor.wide);
    const field = this.fields.fieldOf.get(name);
    if (field !== undefined) return field;
    const token = textDecoder.decode(bytes.subarray(start - 1, stop + 1));
    cursor.peek();
    const from = cursor.pos;
    this.strict.oddities = 0;
    this.strict.scan();
    if ((this.strict.oddities & lossyOddities) !== 0) this.lossy = true;
    if (this.unknown.has(name)) this.lossy = true;
    this.unknown.set(name, { token, from, to: cursor.pos });
    return -1;
  }

  private readValue(field: number): void {
    const { cursor } = this;
    const kind = cursor.peek();
    this.kinds[field] = kind;
    if (kind > jsonKind.array) {
      this.from[field] = cursor.pos;
      cursor.passScalar(kind);
      this.to[field] = cursor.pos;
      if (kind === jsonKind.string) {
        this.from[field] = cursor.start;
        this.to[field] = cursor.stop;
        this.bits[field] = (cursor.escaped ? textBits.escaped : 0) | (cursor.wide ? textBits.wide : 0);
        if (cursor.lone) this.lone = true;
      } else if (kind === jsonKind.number) this.bits[field] = this.isMinusZero() ? numberForm.float : cursor.form;
      return;
    }
    if (kind === jsonKind.bad) cursor.failExpected("a value");
    this.from[field] = cursor.pos;
    if (field === this.ownField && this.ownReader?.tryRead(cursor, this.view)) {
      this.bits[field] = strictBit;
      this.to[field] = cursor.pos;
      return;
    }
    this.strict.oddities = 0;
    this.bits[field] = this.strict.scan() ? strictBit : 0;
    if ((this.strict.oddities & lossyOddities) !== 0) this.lossy = true;
    this.to[field] = cursor.pos;
  }

  /** No integer column can hold the sign of -0. */
  private isMinusZero(): boolean {
    const { bytes, start, stop } = this.cursor;
    return stop - start === 2 && bytes[start] === 0x2d && bytes[start + 1] === 0x30;
  }
}

/** The JSON-escaped form of a text, without quotes: what a column holds when the text has half a surrogate pair. */
export function escapeText(text: string): Uint8Array {
  return textEncoder.encode(JSON.stringify(text).slice(1, -1));
}
