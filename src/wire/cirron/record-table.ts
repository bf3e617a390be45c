// The first half of reading spans, marks or snapshots: finds where each field is in the bytes, for a block of
// records at a time. Nothing is stored yet, so a record that turns out to be unusable leaves no trace in the columns.
// Fields may come in any order; of a field that comes twice, the last one counts. The second half (`fill.ts`) goes
// over a block column by column, in short loops that do one thing.

import { ByteWriter } from "#base/byte-writer.ts";
import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { lossyOddities, rewriteStrict, StrictScan } from "#base/json/strict.ts";
import { decodeText } from "#base/json/text.ts";
import { endOfPlainDigits, endOfPlainText, WordToken } from "#base/json/words.ts";
import { UnknownFields } from "./unknown-fields.ts";

/** Bits of `bits` for a string. */
export const textBits = { escaped: 1, wide: 2 } as const;
/** `bits` of an object or array whose text is strict JSON as it stands. */
export const strictBit = 1;

/** The letters `null` as a word. */
const nullWord = 0x6c6c756e;

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The fields of one kind of record, in the order in which real clients write them; made once. */
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

/**
 * Reads one field's value in its own way while the record is scanned, or passes nothing and returns false. Throws LongValue
 * when the value extends far beyond `giveUpAt`.
 */
export interface FieldReader {
  tryRead(cursor: JsonCursor, view: DataView, giveUpAt: number): boolean;
}

/** How many fields of a long record are passed between two pauses. */
const pauseFields = 2048;

/** How much memory for writing `extra` a table keeps. */
const extraBytesKept = 64 * 1024;

/** How many records a block holds; its scratch memory stays in the processor's cache. */
const blockRows = 256;

/** Bits of `rowBits`. */
export const rowBits = {
  /** Strict JSON cannot say what the record said: its exact text must be kept. */
  lossy: 1,
  /** A text field holds half of a surrogate pair. */
  lone: 2,
} as const;

const noCursor = new JsonCursor(new Uint8Array(0));
const noView = new DataView(new ArrayBuffer(0));
const noScan = new StrictScan(noCursor);

export class RecordTable {
  cursor: JsonCursor = noCursor;
  /** Over the cursor's bytes. */
  view: DataView = noView;
  readonly names: readonly string[];
  /** Fields of a record. The cell of a field is `row * width + field`. */
  readonly width: number;
  /** Rows in this block; the record being read takes the next one. */
  count = 0;
  /** Per cell: `jsonKind`, 0 when the field is absent. */
  readonly kinds: Uint8Array;
  /** Per cell: its text is `bytes[from..to)`, of a string without the quotes. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Per cell: `textBits` of a string, `numberForm` of a number, `strictBit` of an object or array. */
  readonly bits: Uint8Array;
  /** Per row: the record itself, with its braces. */
  readonly recordFrom = new Int32Array(blockRows);
  readonly recordTo = new Int32Array(blockRows);
  /** Per row: bits of `rowBits`. */
  readonly rowBits = new Uint8Array(blockRows);
  /** Per row: the `flags` column. */
  readonly flags = new Uint32Array(blockRows);
  /** Per row: fields whose value fits no column, one bit each. */
  private readonly odd = new Uint32Array(blockRows);
  private readonly unknown = new UnknownFields();
  private extraWriter = new ByteWriter(256);

  private readonly fields: RecordFields;
  private strict = noScan;
  /** The long values of the record being read were looked through. */
  private isLong = false;
  private readonly ownReader: FieldReader | null;
  private readonly ownField: number;

  constructor(fields: RecordFields, ownField = -1, ownReader: FieldReader | null = null) {
    const cells = fields.names.length * blockRows;
    this.fields = fields;
    this.names = fields.names;
    this.width = fields.names.length;
    this.kinds = new Uint8Array(cells);
    this.from = new Int32Array(cells);
    this.to = new Int32Array(cells);
    this.bits = new Uint8Array(cells);
    this.ownField = ownField;
    this.ownReader = ownReader;
  }

  /** Begins with another text. A table is made once and serves many texts, one at a time. */
  aim(cursor: JsonCursor, view: DataView): void {
    this.cursor = cursor;
    this.view = view;
    this.strict = new StrictScan(cursor);
    this.unknown.bytes = cursor.bytes;
    this.clear();
  }

  /** Forgets the text, which may be large. */
  release(): void {
    this.cursor = noCursor;
    this.view = noView;
    this.strict = noScan;
    this.unknown.bytes = noCursor.bytes;
    if (this.extraWriter.bytes.length > extraBytesKept) this.extraWriter = new ByteWriter(256);
    this.clear();
  }

  clear(): void {
    this.count = 0;
    this.unknown.clear();
  }

  /**
   * Reads the record whose brace the cursor is at into row `count`. `keep` makes it part of the block; otherwise the next
   * `read` overwrites it. Throws LongValue at values beyond the first `bytesMax` bytes of the record.
   */
  read(bytesMax: number): void {
    const { cursor } = this;
    this.begin(cursor.pos + bytesMax, false);
    cursor.depth++;
    const fields = this.readInOrder();
    cursor.depth--;
    if (fields < this.width || cursor.bytes[cursor.pos] !== 0x7d || cursor.pos >= cursor.end) {
      if (fields > 0) cursor.depth++;
      for (let more = fields > 0 ? cursor.passComma() : cursor.enterObject(); more; more = cursor.passComma())
        this.readNext();
    } else cursor.pos++;
    this.recordTo[this.count] = cursor.pos;
  }

  /** The same for a record whose long values were looked through, with pauses among many fields. */
  *readLong(): Generator<void, void> {
    const { cursor } = this;
    this.begin(Number.POSITIVE_INFINITY, true);
    let fields = 0;
    for (let more = cursor.enterObject(); more; more = cursor.passComma()) {
      if (++fields % pauseFields === 0) yield;
      this.readNext();
    }
    this.recordTo[this.count] = cursor.pos;
    yield* this.unknown.prepare(this.count, cursor.pos - (this.recordFrom[this.count] as number));
  }

  private begin(giveUpAt: number, isLong: boolean): void {
    const { count: row } = this;
    this.isLong = isLong;
    this.strict.giveUpAt = giveUpAt;
    this.recordFrom[row] = this.cursor.pos;
    this.rowBits[row] = 0;
    this.odd[row] = 0;
    this.flags[row] = 0;
    this.unknown.forget(row);
    this.kinds.fill(0, row * this.width, (row + 1) * this.width);
  }

  /** Returns whether the block is full. */
  keep(): boolean {
    return ++this.count === blockRows;
  }

  /**
   * Passes the fields that are in the usual order, without blanks; returns how many. Most bytes of a batch are read
   * here: everything that is not plain is left to the cursor.
   */
  private readInOrder(): number {
    const { cursor, view, kinds, from, to, bits } = this;
    const { tokens } = this.fields;
    const { end } = cursor;
    const first = this.count * this.width;
    let p = cursor.pos;
    let field = 0;
    for (; field < tokens.length; field++) {
      const cell = first + field;
      const token = tokens[field] as WordToken;
      if (!token.isAt(view, p, end)) break;
      p += token.size;
      const c = p + 4 <= end ? view.getUint8(p) : 0;
      if (c === 0x22) {
        const stop = endOfPlainText(view, p + 1, end);
        if (stop >= 0) {
          kinds[cell] = jsonKind.string;
          from[cell] = p + 1;
          to[cell] = stop;
          bits[cell] = 0;
          p = stop + 1;
          continue;
        }
      } else if (c >= 0x30 && c <= 0x39) {
        const stop = endOfPlainDigits(view, p, end);
        if (stop >= 0) {
          kinds[cell] = jsonKind.number;
          from[cell] = p;
          to[cell] = stop;
          bits[cell] = numberForm.integer;
          p = stop;
          continue;
        }
      } else if (c === 0x6e && view.getInt32(p, true) === nullWord) {
        kinds[cell] = jsonKind.null;
        from[cell] = p;
        p += 4;
        to[cell] = p;
        continue;
      }
      cursor.pos = p;
      this.readValue(field);
      p = cursor.pos;
    }
    cursor.pos = p;
    return field;
  }

  /** Passes the next field, whichever it is and with blanks. */
  private readNext(): void {
    const field = this.readKey();
    if (field < 0) return;
    if (this.kinds[this.count * this.width + field] !== 0) this.noteRow(rowBits.lossy);
    this.readValue(field);
  }

  private noteRow(bit: number): void {
    this.rowBits[this.count] = (this.rowBits[this.count] as number) | bit;
  }

  isInteger(cell: number): boolean {
    return this.kinds[cell] === jsonKind.number && this.bits[cell] === numberForm.integer;
  }

  text(cell: number): string {
    const bits = this.bits[cell] as number;
    const isEscaped = (bits & textBits.escaped) !== 0;
    const isWide = (bits & textBits.wide) !== 0;
    return decodeText(this.cursor.bytes, this.from[cell] as number, this.to[cell] as number, isEscaped, isWide);
  }

  /** The value as it was sent, for messages. */
  sent(cell: number): string {
    const quote = this.kinds[cell] === jsonKind.string ? 1 : 0;
    const from = (this.from[cell] as number) - quote;
    return textDecoder.decode(this.cursor.bytes.subarray(from, (this.to[cell] as number) + quote));
  }

  /** The value as strict JSON. */
  strictBytes(cell: number): Uint8Array {
    const quote = this.kinds[cell] === jsonKind.string ? 1 : 0;
    return rewriteStrict(this.cursor.bytes, (this.from[cell] as number) - quote, (this.to[cell] as number) + quote);
  }

  /** Notes that a value fits no column: it goes to `extra`. */
  keepInExtra(row: number, field: number): void {
    this.odd[row] = (this.odd[row] as number) | (1 << field);
    const cell = row * this.width + field;
    if (this.kinds[cell] === jsonKind.number && this.bits[cell] === numberForm.nonFinite) this.markLossy(row);
  }

  markLossy(row: number): void {
    this.rowBits[row] = (this.rowBits[row] as number) | rowBits.lossy;
  }

  hasExtra(row: number): boolean {
    return this.odd[row] !== 0 || this.unknown.has(row);
  }

  /** The text of a field that the document does not name; '' when it is not there, or not a text. */
  unknownText(row: number, name: string): string {
    return this.unknown.textOf(row, name);
  }

  /** Unknown fields and odd values of a row as one strict JSON object. A view, valid until the next one is asked for. */
  formatExtra(row: number): Uint8Array {
    const { extraWriter: writer } = this;
    writer.clear();
    writer.reserve((this.recordTo[row] as number) - (this.recordFrom[row] as number));
    for (let field = 0; field < this.width; field++) {
      if (((this.odd[row] as number) & (1 << field)) === 0) continue;
      writer.text(`,"${this.names[field]}":`);
      writer.raw(this.strictBytes(row * this.width + field));
    }
    this.unknown.write(row, writer);
    writer.byte(0x7d);
    // In place of the first comma.
    writer.bytes[0] = 0x7b;
    return writer.view();
  }

  /** The field of the next key; -1 for an unknown key, whose value is passed too. */
  private readKey(): number {
    const { cursor } = this;
    cursor.readKey();
    const { start, stop } = cursor;
    const name = cursor.text();
    const field = this.fields.fieldOf.get(name);
    if (field !== undefined) return field;
    cursor.peek();
    const from = cursor.pos;
    this.strict.oddities = 0;
    const isStrict = this.strict.scan();
    const place = { nameFrom: start - 1, nameTo: stop + 1, from, to: cursor.pos, isStrict };
    const isFirst = this.unknown.add(this.count, name, place);
    if ((this.strict.oddities & lossyOddities) !== 0 || !isFirst) this.noteRow(rowBits.lossy);
    return -1;
  }

  private readValue(field: number): void {
    const { cursor } = this;
    const cell = this.count * this.width + field;
    const kind = cursor.peek();
    this.kinds[cell] = kind;
    if (kind > jsonKind.array) {
      this.from[cell] = cursor.pos;
      if (kind === jsonKind.string) this.strict.passString();
      else cursor.passScalar(kind);
      this.to[cell] = cursor.pos;
      if (kind === jsonKind.string) {
        this.from[cell] = cursor.start;
        this.to[cell] = cursor.stop;
        this.bits[cell] = (cursor.escaped ? textBits.escaped : 0) | (cursor.wide ? textBits.wide : 0);
        if (cursor.lone) this.noteRow(rowBits.lone);
      } else if (kind === jsonKind.number) this.bits[cell] = this.isMinusZero() ? numberForm.float : cursor.form;
      return;
    }
    if (kind === jsonKind.bad) cursor.failExpected("a value");
    this.from[cell] = cursor.pos;
    if (field === this.ownField && !this.isLong) {
      if (this.ownReader?.tryRead(cursor, this.view, this.strict.giveUpAt)) {
        this.bits[cell] = strictBit;
        this.to[cell] = cursor.pos;
        return;
      }
    }
    this.strict.oddities = 0;
    this.bits[cell] = this.strict.scan() ? strictBit : 0;
    if ((this.strict.oddities & lossyOddities) !== 0) this.noteRow(rowBits.lossy);
    this.to[cell] = cursor.pos;
  }

  /** No integer column can hold the sign of -0. */
  private isMinusZero(): boolean {
    const { bytes, start, stop } = this.cursor;
    return stop - start === 2 && bytes[start] === 0x2d && bytes[start + 1] === 0x30;
  }
}
