// Attributes as JSON text, straight from protobuf: `{"name":value,…}`. An integer is written without a point and a
// double always with one or an exponent, so that the text alone tells which it was. What JSON cannot express exactly (bytes,
// NaN, a repeated name, text that is not UTF-8, unknown fields) sets `isOdd`: the record then keeps its bytes beside the text.

import { isUtf8 } from "node:buffer";
import { type ByteWriter, toAscii } from "#base/byte-writer.ts";
import { formatDouble } from "#base/json/format.ts";
import { passPlainText } from "#base/json/words.ts";
import { isSame, type Key, type KeyCache } from "./key-cache.ts";
import { depthMax, recordValuesMax } from "./message.ts";
import { type ProtoReader, wireType } from "./protobuf.ts";

const trueWord = toAscii("true");
const falseWord = toAscii("false");
const nullWord = toAscii("null");
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

const [quote, comma, colon, openBrace, closeBrace, openBracket, closeBracket, backslash] = [
  0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d, 0x5c,
];

/** Numbers of AnyValue's fields. */
const valueField = { string: 1, bool: 2, int: 3, double: 4, array: 5, list: 6, bytes: 7 } as const;

export class AttributeWriter<Role> {
  isOdd = false;
  /** The attribute that was written last: its name, and its value if that is a number. */
  key: Key<Role> | null = null;
  isNumber = false;
  isInteger = false;
  number = 0;
  low = 0;
  high = 0;
  /** Where the text of its value begins in the writer. */
  valueAt = 0;
  private readonly keys: KeyCache<Role>;
  private values = 0;
  /** The names in the previous record, in order: those of the next one are nearly always the same. */
  private readonly before: Key<Role>[] = [];
  private at = 0;

  constructor(keys: KeyCache<Role>) {
    this.keys = keys;
  }

  /** To be called before the first attribute of a record. */
  begin(): void {
    this.isOdd = false;
    this.values = 0;
    this.at = 0;
  }

  /** Writes an attribute of the record itself, a KeyValue that ends at `end`; false when it cannot be read. */
  attribute(reader: ProtoReader, end: number, out: ByteWriter): boolean {
    return this.plain(reader, end, out) || this.keyValue(reader, end, out, 0);
  }

  /** Writes `"name":value` of a KeyValue that ends at `end`; false when it cannot be read. */
  keyValue(reader: ProtoReader, end: number, out: ByteWriter, depth: number): boolean {
    let keyFrom = 0;
    let keyTo = 0;
    let from = 0;
    let to = -1;
    let fields = 0;
    while (reader.next(end)) {
      fields++;
      const isBytes = reader.wire === wireType.bytes;
      if (reader.field === 1 && isBytes) {
        keyFrom = reader.from;
        keyTo = reader.to;
      } else if (reader.field === 2 && isBytes) {
        if (to >= 0) this.isOdd = true;
        from = reader.from;
        to = reader.to;
      } else this.isOdd = true;
    }
    if (reader.bad) return false;
    if (fields > 2) this.isOdd = true;
    const key = this.keys.find(reader.bytes, keyFrom, keyTo);
    if (!key.isExact) this.isOdd = true;
    out.raw(key.token);
    this.valueAt = out.length;
    this.isNumber = false;
    if (to < 0) {
      // A null stands for an empty value, not for a missing one.
      this.isOdd = true;
      out.raw(nullWord);
    } else {
      reader.pos = from;
      if (!this.value(reader, to, out, depth)) return false;
    }
    this.key = key;
    reader.pos = end;
    return true;
  }

  /**
   * Reads the usual shape in one go: a short name, a short scalar and nothing else. False for any other shape; then nothing was
   * read or written.
   *
   *   0a size name · 12 size value: 0a size text | 10 bool | 18 varint | 21 double
   */
  private plain(reader: ProtoReader, end: number, out: ByteWriter): boolean {
    const { bytes, pos } = reader;
    const keyFrom = pos + 2;
    const keyTo = keyFrom + (bytes[pos + 1] as number);
    const from = keyTo + 2;
    // If these bytes lie beyond the end, the sizes do not fit.
    if (bytes[pos] !== 0x0a || from + 2 > end || bytes[keyTo] !== 0x12) return false;
    if (keyTo - keyFrom > 127 || end - from > 127 || from + (bytes[keyTo + 1] as number) !== end) return false;
    const tag = bytes[from] as number;
    const first = bytes[from + 1] as number;
    switch (tag) {
      case 0x0a:
        if (from + 2 + first !== end) return false;
        break;
      case 0x10:
        if (from + 2 !== end || first > 1) return false;
        break;
      case 0x18:
        if (!isShortVarint(bytes, from + 1, end)) return false;
        break;
      case 0x21:
        if (from + 9 !== end) return false;
        break;
      default:
        return false;
    }
    const key = this.keyAt(bytes, keyFrom, keyTo);
    if (!key.isExact) this.isOdd = true;
    out.raw(key.token);
    this.key = key;
    this.values++;
    this.valueAt = out.length;
    this.isNumber = false;
    if (tag === 0x0a) this.text(bytes, from + 2, end, out);
    else if (tag === 0x10) out.raw(first === 1 ? trueWord : falseWord);
    else if (tag === 0x18) this.integer(shortVarint(bytes, from + 1, end), 0, out);
    else this.double(reader.view.getFloat64(from + 1, true), out);
    reader.pos = end;
    return true;
  }

  private keyAt(bytes: Uint8Array, from: number, to: number): Key<Role> {
    const at = this.at++;
    const guess = this.before[at];
    if (guess !== undefined && isSame(guess.bytes, bytes, from, to)) return guess;
    const key = this.keys.find(bytes, from, to);
    if (at < guessesMax) this.before[at] = key;
    return key;
  }

  /** Writes an AnyValue that ends at `end`. */
  value(reader: ProtoReader, end: number, out: ByteWriter, depth: number): boolean {
    if (depth > depthMax || ++this.values > recordValuesMax) return fail(reader);
    let field = 0;
    let wire = 0;
    let from = 0;
    let to = 0;
    let low = 0;
    let high = 0;
    while (reader.next(end)) {
      if (field !== 0) this.isOdd = true;
      ({ field, wire, from, to, low, high } = reader);
    }
    if (reader.bad) return false;
    switch (field) {
      case 0:
        out.raw(nullWord);
        return true;
      case valueField.string:
        return wire === wireType.bytes ? this.text(reader.bytes, from, to, out) : this.unknown(out);
      case valueField.bool:
        if (wire !== wireType.varint) return this.unknown(out);
        out.raw(low !== 0 || high !== 0 ? trueWord : falseWord);
        return true;
      case valueField.int:
        return wire === wireType.varint ? this.integer(low, high, out) : this.unknown(out);
      case valueField.double:
        return wire === wireType.eight ? this.double(reader.view.getFloat64(from, true), out) : this.unknown(out);
      case valueField.array:
      case valueField.list:
        if (wire !== wireType.bytes) return this.unknown(out);
        reader.pos = from;
        return this.items(reader, to, out, depth, field === valueField.array);
      case valueField.bytes:
        if (wire !== wireType.bytes) return this.unknown(out);
        this.isOdd = true;
        out.text(JSON.stringify(Buffer.from(reader.bytes.subarray(from, to)).toString("base64")));
        return true;
      default:
        return this.unknown(out);
    }
  }

  /** Writes a JSON string. */
  text(bytes: Uint8Array, from: number, to: number, out: ByteWriter): true {
    if (to - from > longTextBytes) return this.longText(bytes, from, to, out);
    out.reserve(to - from + 2);
    const target = out.bytes;
    let at = out.length;
    target[at++] = quote;
    for (let i = from; i < to; i++) {
      const byte = bytes[i] as number;
      if (!isPlain(byte)) return this.wideText(bytes, from, to, out);
      target[at++] = byte;
    }
    target[at++] = quote;
    out.length = at;
    return true;
  }

  /** The same for long texts: looks at four bytes at a time and copies the whole. */
  private longText(bytes: Uint8Array, from: number, to: number, out: ByteWriter): true {
    let at = passPlainText(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), from, to);
    while (at < to && isPlain(bytes[at] as number)) at++;
    if (at < to) return this.wideText(bytes, from, to, out);
    out.byte(quote);
    out.raw(bytes.subarray(from, to));
    out.byte(quote);
    return true;
  }

  private wideText(bytes: Uint8Array, from: number, to: number, out: ByteWriter): true {
    const part = bytes.subarray(from, to);
    if (!isUtf8(part)) this.isOdd = true;
    out.text(JSON.stringify(textDecoder.decode(part)));
    return true;
  }

  private integer(low: number, high: number, out: ByteWriter): true {
    this.isNumber = true;
    this.isInteger = true;
    this.low = low;
    this.high = high;
    const signed = high | 0;
    // Up to 2 ** 53 a double holds it.
    if (signed >= -0x20_0000 && signed < 0x20_0000) {
      this.number = signed * 4294967296 + low;
      out.text(String(this.number));
    } else {
      const value = (BigInt(signed) << 32n) | BigInt(low);
      this.number = Number(value);
      out.text(value.toString());
    }
    return true;
  }

  private double(value: number, out: ByteWriter): true {
    this.isNumber = true;
    this.isInteger = false;
    this.number = value;
    if (!Number.isFinite(value)) {
      this.isOdd = true;
      out.text(`"${value}"`);
      return true;
    }
    out.text(formatDouble(value));
    return true;
  }

  private items(reader: ProtoReader, end: number, out: ByteWriter, depth: number, isArray: boolean): boolean {
    out.byte(isArray ? openBracket : openBrace);
    const names = isArray ? null : new Set<string>();
    let count = 0;
    while (reader.next(end)) {
      if (reader.field !== 1 || reader.wire !== wireType.bytes) {
        this.isOdd = true;
        continue;
      }
      if (count++ > 0) out.byte(comma);
      const to = reader.enter();
      if (isArray ? !this.value(reader, to, out, depth + 1) : !this.keyValue(reader, to, out, depth + 1)) return false;
      if (names !== null && this.key !== null) {
        if (names.has(this.key.text)) this.isOdd = true;
        names.add(this.key.text);
      }
      reader.pos = to;
    }
    if (reader.bad) return false;
    out.byte(isArray ? closeBracket : closeBrace);
    // A number inside a list is not the value of the attribute.
    this.isNumber = false;
    return true;
  }

  private unknown(out: ByteWriter): true {
    this.isOdd = true;
    out.raw(nullWord);
    return true;
  }
}

/** Whether a byte can stand in a JSON string as it is. */
function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte < 0x80 && byte !== quote && byte !== backslash;
}

const longTextBytes = 1024;
const guessesMax = 32;
/** This many groups of seven bits fit a word. */
const shortVarintBytes = 4;

function isShortVarint(bytes: Uint8Array, from: number, end: number): boolean {
  if (end - from > shortVarintBytes) return false;
  for (let at = from; at < end - 1; at++) if ((bytes[at] as number) < 0x80) return false;
  return (bytes[end - 1] as number) < 0x80;
}

function shortVarint(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = end - 1; at >= from; at--) value = (value << 7) | ((bytes[at] as number) & 0x7f);
  return value;
}

function fail(reader: ProtoReader): false {
  reader.bad = true;
  return false;
}

export const jsonBytes = { quote, comma, colon, openBrace, closeBrace, openBracket, closeBracket } as const;
