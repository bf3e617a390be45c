// The numbers inside a snapshot's `stats`. Statistics as the SDK writes them are read while the record is scanned;
// any other text is scanned first and read afterwards. Anything but a number where one is expected is left out here; it stays
// in the stored text.

import { JsonCursor, jsonKind, numberForm } from "#base/json/cursor.ts";
import { LongValue } from "#base/json/strict.ts";
import { WordToken } from "#base/json/words.ts";
import { ShortDecimal } from "#base/short-decimal.ts";
import { atOnce } from "#base/turns.ts";
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

const pauseItems = 4096;
const keptItems = 4096;

const noBytes = new Uint8Array(0);
const textDecoder = new TextDecoder();

/** A reused list of doubles. */
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

  /** Gives the memory of a long list back. */
  release(): void {
    this.length = 0;
    if (this.values.length > keptItems) this.values = new Float64Array(32);
  }
}

/** Reads statistics and holds the numbers of the record that it read last. */
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
  /** The offset of the statistics whose numbers are held; -1 for none. */
  private readAt = -1;

  /**
   * Reads statistics that stand exactly as the SDK writes them, all finite, and passes them; returns false and
   * passes nothing when they do not. What it passes is strict JSON.
   */
  tryRead(cursor: JsonCursor, view: DataView, giveUpAt: number): boolean {
    const from = cursor.pos;
    this.bins.length = 0;
    this.counts.length = 0;
    const isPlain =
      this.readNumbers(cursor, view) &&
      this.readListAfter(binsToken, this.bins, cursor, view, giveUpAt) &&
      this.readListAfter(countsToken, this.counts, cursor, view, giveUpAt) &&
      cursor.pos + 2 <= cursor.end &&
      cursor.bytes[cursor.pos] === 0x7d &&
      cursor.bytes[cursor.pos + 1] === 0x7d;
    this.readAt = isPlain ? from : -1;
    cursor.pos = isPlain ? cursor.pos + 2 : from;
    if (isPlain) this.hold(this.numbers);
    return isPlain;
  }

  /** Fills in the numbers of the record that was just scanned; `cell` is its `stats`. */
  read(table: RecordTable, cell: number): void {
    const isHeld = this.readAt >= 0 && this.readAt === table.from[cell] && table.kinds[cell] === jsonKind.object;
    if (!isHeld) atOnce(this.readInSteps(table, cell));
  }

  /** The same with pauses, for millions of bins. A later `read` finds the numbers already there. */
  *readInSteps(table: RecordTable, cell: number): Generator<void, void> {
    this.hold([]);
    this.bins.length = 0;
    this.counts.length = 0;
    if (table.kinds[cell] !== jsonKind.object) return;
    yield* this.readAny(table, cell);
    this.readAt = table.from[cell] as number;
  }

  /** Forgets what it read last, which may be large. */
  release(): void {
    this.readAt = -1;
    this.cursor.reset(noBytes);
    this.bins.release();
    this.counts.release();
  }

  private hold(numbers: ArrayLike<number | null>): void {
    this.mean = numbers[0] ?? null;
    this.std = numbers[1] ?? null;
    this.min = numbers[2] ?? null;
    this.max = numbers[3] ?? null;
    this.norm = numbers[4] ?? null;
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
    const read = cursor.double();
    return Number.isFinite(read) ? read : Number.NaN;
  }

  private readListAfter(
    token: WordToken,
    list: DoubleList,
    cursor: JsonCursor,
    view: DataView,
    giveUpAt: number,
  ): boolean {
    if (!token.isAt(view, cursor.pos, cursor.end)) return false;
    cursor.pos += token.size;
    for (;;) {
      if (cursor.pos > giveUpAt) throw new LongValue();
      const value = this.readFinite(cursor, view);
      if (Number.isNaN(value) || cursor.pos >= cursor.end) return false;
      list.push(value);
      const c = cursor.bytes[cursor.pos++];
      if (c !== 0x2c) return c === 0x5d;
    }
  }

  private *readAny(table: RecordTable, cell: number): Generator<void, void> {
    const { cursor } = this;
    cursor.reset(table.cursor.bytes, table.from[cell], table.to[cell]);
    const found: (number | null)[] = [null, null, null, null, null];
    let words: readonly (number | null)[] = found;
    let members = 0;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (++members % pauseItems === 0) yield;
      const at = numberKeys.findIndex((key) => cursor.keyIs(key));
      if (at >= 0) found[at] = this.readNumber();
      else if (cursor.keyIs(nonfiniteKey)) words = this.readWords();
      else if (cursor.keyIs(histogramKey)) yield* this.readHistogram();
      else if (cursor.keyIs(finiteKey)) yield* this.readFiniteHistogram();
      else cursor.skipValue();
    }
    this.hold(found.map((value, at) => value ?? words[at] ?? null));
  }

  /** `{"mean": "nan", …}`: numbers that strict JSON cannot write, and that are null in `stats` itself. */
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

  /** The histogram of the finite values, which a tensor with other values has instead of one of all values. */
  private *readFiniteHistogram(): Generator<void, void> {
    const { cursor } = this;
    if (this.bins.length > 0 || cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(histogramKey)) yield* this.readHistogram();
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
    return cursor.double();
  }

  private *readHistogram(): Generator<void, void> {
    const { cursor } = this;
    this.bins.length = 0;
    this.counts.length = 0;
    if (cursor.peek() !== jsonKind.object) {
      cursor.skipValue();
      return;
    }
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.keyIs(binsKey)) yield* this.readList(this.bins);
      else if (cursor.keyIs(countsKey)) yield* this.readList(this.counts);
      else cursor.skipValue();
    }
  }

  /** A list with anything but numbers in it counts as empty. */
  private *readList(list: DoubleList): Generator<void, void> {
    const { cursor } = this;
    list.length = 0;
    if (cursor.peek() !== jsonKind.array) {
      cursor.skipValue();
      return;
    }
    let isWhole = true;
    let items = 0;
    for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
      if (++items % pauseItems === 0) yield;
      const value = this.readNumber();
      if (value === null) isWhole = false;
      else list.push(value);
    }
    if (!isWhole) list.length = 0;
  }
}
