// The numbers inside a snapshot's `stats`. Statistics as the SDK writes them are read while the record is scanned;
// any other text is scanned first and looked through afterwards, and whatever is not a number where one is expected
// is left out here and stays in the stored text.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { parseDouble } from "#base/json/number.ts";
import { WordToken } from "#base/json/words.ts";
import { ShortDecimal } from "#base/short-decimal.ts";
import { nonfiniteWords } from "#model/nonfinite-words.ts";
import type { RecordTable } from "./record-table.ts";

const latin = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const numberKeys = ["mean", "std", "min", "max", "norm"].map(latin);
const nonfiniteKey = latin("nonfinite");
const finiteKey = latin("finite");
const histogramKey = latin("histogram");
const binsKey = latin("bins");
const countsKey = latin("counts");

/** What stands before each part of the statistics when the SDK writes them. */
const numberTokens = ['{"mean":', ',"std":', ',"min":', ',"max":', ',"norm":'].map((text) => new WordToken(text));
const binsToken = new WordToken(',"histogram":{"bins":[');
const countsToken = new WordToken(',"counts":[');

const noBytes = new Uint8Array(0);
const textDecoder = new TextDecoder();

/** A re-used list of doubles. */
export class DoubleList {
  values = new Float64Array(32);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }
}

/** Holds the numbers of the record it read last. */
export class StatsReader {
  mean: number | null = null;
  std: number | null = null;
  min: number | null = null;
  max: number | null = null;
  norm: number | null = null;
  readonly bins = new DoubleList();
  readonly counts = new DoubleList();
  private readonly cursor = new JsonCursor(noBytes);
  private readonly decimal = new ShortDecimal();
  private readonly numbers = new Float64Array(numberTokens.length);
  /** Where the statistics stand that `tryRead` has read, -1 when it could not. */
  private readAt = -1;

  /**
   * Reads statistics that stand exactly as the SDK writes them, all finite, and passes them; returns false and
   * passes nothing when they do not. What it passes is strict JSON.
   */
  tryRead(cursor: JsonCursor, view: DataView): boolean {
    const from = cursor.pos;
    this.bins.length = 0;
    this.counts.length = 0;
    const isPlain =
      this.readNumbers(cursor, view) &&
      this.readListAfter(binsToken, this.bins, cursor, view) &&
      this.readListAfter(countsToken, this.counts, cursor, view) &&
      cursor.pos + 2 <= cursor.end &&
      cursor.bytes[cursor.pos] === 0x7d &&
      cursor.bytes[cursor.pos + 1] === 0x7d;
    this.readAt = isPlain ? from : -1;
    cursor.pos = isPlain ? cursor.pos + 2 : from;
    return isPlain;
  }

  /** Fills in the numbers of the record that was just scanned; `cell` is its `stats`. */
  read(table: RecordTable, cell: number): void {
    if (this.readAt >= 0 && this.readAt === table.from[cell] && table.kinds[cell] === jsonKind.object) {
      this.mean = this.numbers[0] as number;
      this.std = this.numbers[1] as number;
      this.min = this.numbers[2] as number;
      this.max = this.numbers[3] as number;
      this.norm = this.numbers[4] as number;
      return;
    }
    this.mean = null;
    this.std = null;
    this.min = null;
    this.max = null;
    this.norm = null;
    this.bins.length = 0;
    this.counts.length = 0;
    if (table.kinds[cell] === jsonKind.object) this.readAny(table, cell);
  }

  /** Forgets the text it read last, which may be large. */
  release(): void {
    this.readAt = -1;
    this.cursor.reset(noBytes);
  }

  private readNumbers(cursor: JsonCursor, view: DataView): boolean {
    for (let i = 0; i < numberTokens.length; i++) {
      const token = numberTokens[i] as WordToken;
      if (!token.isAt(view, cursor.pos, cursor.end)) return false;
      cursor.pos += token.size;
      const value = this.readFinite(cursor, view);
      if (Number.isNaN(value)) return false;
      this.numbers[i] = value;
    }
    return true;
  }

  /** The number at the cursor, or NaN when there is none that is finite. */
  private readFinite(cursor: JsonCursor, view: DataView): number {
    const behind = this.decimal.read(cursor.bytes, view, cursor.pos);
    if (behind >= 0 && behind <= cursor.end) {
      cursor.pos = behind;
      return this.decimal.out[0] as number;
    }
    const { pos } = cursor;
    if (cursor.peek() !== jsonKind.number || cursor.pos > pos) return Number.NaN;
    cursor.readNumber();
    if (cursor.form === numberForm.nonFinite) return Number.NaN;
    const read = parseDouble(cursor.bytes, cursor.start, cursor.stop, cursor.form);
    return Number.isFinite(read) ? read : Number.NaN;
  }

  private readListAfter(token: WordToken, list: DoubleList, cursor: JsonCursor, view: DataView): boolean {
    if (!token.isAt(view, cursor.pos, cursor.end)) return false;
    cursor.pos += token.size;
    for (;;) {
      const value = this.readFinite(cursor, view);
      if (Number.isNaN(value) || cursor.pos >= cursor.end) return false;
      list.push(value);
      const c = cursor.bytes[cursor.pos++];
      if (c !== 0x2c) return c === 0x5d;
    }
  }

  private readAny(table: RecordTable, cell: number): void {
    const { cursor } = this;
    cursor.reset(table.cursor.bytes, table.from[cell], table.to[cell]);
    const found: (number | null)[] = [null, null, null, null, null];
    let words: readonly (number | null)[] = found;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const at = numberKeys.findIndex((key) => cursor.keyIs(key));
      if (at >= 0) found[at] = this.readNumber();
      else if (cursor.keyIs(nonfiniteKey)) words = this.readWords();
      else if (cursor.keyIs(histogramKey)) this.readHistogram();
      else if (cursor.keyIs(finiteKey)) this.readFiniteHistogram();
      else cursor.skipValue();
    }
    const [mean = null, std = null, min = null, max = null, norm = null] = found.map((value, at) => value ?? words[at]);
    this.mean = mean;
    this.std = std;
    this.min = min;
    this.max = max;
    this.norm = norm;
  }

  /** `{"mean": "nan", …}`: the numbers that are null beside it because strict JSON cannot write them. */
  private readWords(): readonly (number | null)[] {
    const { cursor } = this;
    const found: (number | null)[] = [null, null, null, null, null];
    if (cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return found;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      const at = numberKeys.findIndex((key) => cursor.keyIs(key));
      if (at < 0 || cursor.peek() !== jsonKind.string) {
        cursor.skipValue();
        continue;
      }
      cursor.readString();
      found[at] = nonfiniteWords.get(textDecoder.decode(cursor.bytes.subarray(cursor.start, cursor.stop))) ?? null;
    }
    return found;
  }

  /** A tensor with values that are not finite has no histogram of all of them, but one of the others. */
  private readFiniteHistogram(): void {
    const { cursor } = this;
    if (this.bins.length > 0 || cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(histogramKey)) this.readHistogram();
      else cursor.skipValue();
    }
  }

  private readNumber(): number | null {
    const { cursor } = this;
    if (cursor.peek() !== jsonKind.number) {
      cursor.skipValue();
      return null;
    }
    cursor.readNumber();
    return parseDouble(cursor.bytes, cursor.start, cursor.stop, cursor.form);
  }

  private readHistogram(): void {
    const { cursor } = this;
    this.bins.length = 0;
    this.counts.length = 0;
    if (cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(binsKey)) this.readList(this.bins);
      else if (cursor.keyIs(countsKey)) this.readList(this.counts);
      else cursor.skipValue();
    }
  }

  /** A list with anything but numbers in it counts as empty. */
  private readList(list: DoubleList): void {
    const { cursor } = this;
    list.length = 0;
    if (cursor.peek() !== jsonKind.array) {
      cursor.skipValue();
      return;
    }
    let isWhole = true;
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      const value = this.readNumber();
      if (value === null) isWhole = false;
      else list.push(value);
    }
    if (!isWhole) list.length = 0;
  }
}
