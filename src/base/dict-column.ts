// Text with few distinct values: a dictionary and one code a row (LowCardinality in the store).

import { wordPool } from "./array-pool.ts";
import { grownSize, keptBytesMax } from "./fixed-columns.ts";

const noWords = new Uint32Array(0);

/** Roughly what a key of a dictionary takes, as text and in its map. */
const dictKeyBytes = 100;

const fewKeys = 4;

let lastSerial = 0;

export class DictColumn {
  /** Unique among all dictionaries that this process ever had. */
  serial: number = ++lastSerial;
  readonly keys: string[] = [];
  codes: Uint32Array = noWords;
  length = 0;
  private codeOf: Map<string, number> | undefined;
  private lastText: string | undefined;
  private lastCode = 0;

  push(text: string): void {
    this.pushCode(text === this.lastText ? this.lastCode : this.intern(text));
  }

  /** The code of a text, added when it is new; for callers that push the same text many times. */
  intern(text: string): number {
    let code = this.find(text);
    if (code < 0) {
      code = this.keys.length;
      this.keys.push(text);
      this.codeOf?.set(text, code);
    }
    this.lastText = text;
    this.lastCode = code;
    return code;
  }

  /** Compares a few keys one by one: in a small batch a column has one or two, and a map costs more. */
  private find(text: string): number {
    const { keys } = this;
    if (keys.length <= fewKeys) return keys.indexOf(text);
    this.codeOf ??= new Map(keys.map((key, code) => [key, code]));
    return this.codeOf.get(text) ?? -1;
  }

  pushCode(code: number): void {
    if (this.length === this.codes.length) this.grow(0);
    this.codes[this.length++] = code;
  }

  /** Makes room for this many values. */
  reserve(length: number): void {
    if (length > this.codes.length) this.grow(length);
  }

  /** Adds one text until the column has this many values. */
  padTo(length: number, text: string): void {
    if (length <= this.length) return;
    const code = this.intern(text);
    this.reserve(length);
    this.codes.fill(code, this.length, length);
    this.length = length;
  }

  at(row: number): string {
    return this.keys[this.codes[row] as number] as string;
  }

  get byteSize(): number {
    return this.codes.byteLength + this.keys.length * dictKeyBytes;
  }

  /** Gives the memory back; the column is to be dropped. */
  release(): void {
    wordPool.give(this.codes);
    this.codes = noWords;
    this.length = 0;
  }

  /** Empties the column, its dictionary too, and keeps its memory for other rows, unless that is much. */
  clear(): void {
    if (this.codes.byteLength > keptBytesMax) this.release();
    this.length = 0;
    this.serial = ++lastSerial;
    this.keys.length = 0;
    this.codeOf = undefined;
    this.lastText = undefined;
  }

  private grow(needed: number): void {
    const grown = wordPool.take(grownSize(this.codes.length, needed));
    grown.set(this.codes);
    wordPool.give(this.codes);
    this.codes = grown;
  }
}
