// A pull reader over JSON bytes. It makes no strings, numbers or objects: a token is two offsets and a few flags,
// and the caller decides what becomes of the bytes. Every byte it passes is checked as strictly as JSON.parse
// checks it, UTF-8 included; only the literals NaN, Infinity and -Infinity are allowed on top.
//
//   for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
//     if (cursor.keyIs(idKey)) cursor.readString(); else cursor.skipValue();
//   }

import { parseDouble, parseNumber } from "./number.ts";
import { Pauses, pauseBytes } from "./pauses.ts";
import { decodeText } from "./text.ts";
import { JsonTokens, jsonKind, kindOfByte, numberForm } from "./tokens.ts";
import { jsonDepthCeiling, type NumberText } from "./value.ts";

// Code that reads with a cursor needs these too.
export { jsonKind, numberForm };

/** One byte per container open inside `skipValue`, which never calls anything that could call it again. */
const skipStack = new Uint8Array(jsonDepthCeiling + 1);

export class JsonCursor extends JsonTokens {
  /** Skips blanks and says what value comes next, without reading it. */
  peek(): number {
    const c = this.skipBlanks();
    return c < 0 ? jsonKind.bad : (kindOfByte[c] as number);
  }

  /** Reads `{` and the first key; false when the object is empty (and then it is closed). */
  openObject(): boolean {
    if (!this.enterObject()) return false;
    this.readKey();
    return true;
  }

  /** After a member's value: reads the next key, or `}` and returns false. */
  nextMember(): boolean {
    if (!this.passComma()) return false;
    this.readKey();
    return true;
  }

  /** The first half of `openObject`: the key is left to `readKey` or `tryKey`. */
  enterObject(): boolean {
    if (this.skipBlanks() !== 0x7b) this.failExpected("an object");
    this.deepen();
    this.pos++;
    return this.skipBlanks() === 0x7d ? this.closeContainer() : true;
  }

  /** The first half of `nextMember`: the key is left to `readKey` or `tryKey`. */
  passComma(): boolean {
    const c = this.skipBlanks();
    if (c === 0x2c) {
      this.pos++;
      return true;
    }
    if (c !== 0x7d) this.failExpected("',' or '}'");
    return this.closeContainer();
  }

  readKey(): void {
    if (this.skipBlanks() !== 0x22) this.failExpected("a key in quotes");
    this.passString();
    if (this.skipBlanks() !== 0x3a) this.failExpected("':'");
    this.pos++;
  }

  /** Passes the key when the bytes ahead are exactly this token, a key in quotes with its colon; else only blanks. */
  tryKey(token: Uint8Array): boolean {
    this.skipBlanks();
    const { bytes, pos } = this;
    const size = token.length;
    if (pos + size > this.end) return false;
    for (let i = 0; i < size; i++) if (bytes[pos + i] !== token[i]) return false;
    this.pos = pos + size;
    return true;
  }

  /** Reads `[`; false when the array is empty (and then it is closed). */
  openArray(): boolean {
    if (this.skipBlanks() !== 0x5b) this.failExpected("an array");
    this.deepen();
    this.pos++;
    return this.skipBlanks() === 0x5d ? this.closeContainer() : true;
  }

  /** After an item: reads `,`, or `]` and returns false. */
  nextItem(): boolean {
    const c = this.skipBlanks();
    if (c === 0x2c) {
      this.pos++;
      return true;
    }
    if (c !== 0x5d) this.failExpected("',' or ']'");
    return this.closeContainer();
  }

  /** Whether the last key or string is exactly these bytes. A text with escapes never is: see `escaped`. */
  keyIs(key: Uint8Array): boolean {
    const size = this.stop - this.start;
    if (size !== key.length || this.escaped) return false;
    const { bytes, start } = this;
    for (let i = 0; i < size; i++) if (bytes[start + i] !== key[i]) return false;
    return true;
  }

  readString(): void {
    if (this.skipBlanks() !== 0x22) this.failExpected("a string");
    this.passString();
  }

  /** Reads a number token, NaN and ±Infinity among them. */
  readNumber(): void {
    const c = this.skipBlanks();
    if (c < 0 || kindOfByte[c] !== jsonKind.number) this.failExpected("a number");
    this.passNumber();
  }

  readNull(): void {
    if (this.peek() !== jsonKind.null) this.failExpected("null");
    this.passScalar(jsonKind.null);
  }

  readBoolean(): boolean {
    const kind = this.peek();
    if (kind !== jsonKind.true && kind !== jsonKind.false) this.failExpected("true or false");
    this.passScalar(kind);
    return kind === jsonKind.true;
  }

  /** The text of the last string or key. */
  text(): string {
    return decodeText(this.bytes, this.start, this.stop, this.escaped, this.wide);
  }

  /** The value of the last number. */
  number(): number | bigint | NumberText {
    return parseNumber(this.bytes, this.start, this.stop, this.form);
  }

  /** The last number as a double, rounded as JSON.parse rounds it. */
  double(): number {
    return parseDouble(this.bytes, this.start, this.stop, this.form);
  }

  /** Passes one value of any kind and leaves `pos` behind it. */
  skipValue(): void {
    this.peek();
    if (this.passKnown() !== undefined) return;
    const stack = skipStack;
    let open = 0;
    for (;;) {
      const kind = this.peek();
      if (kind <= jsonKind.array) {
        const isObject = kind === jsonKind.object;
        if (kind === jsonKind.bad) this.failExpected("a value");
        if (isObject ? this.openObject() : this.openArray()) {
          stack[open++] = kind;
          continue;
        }
      } else this.passScalar(kind);
      // A value has ended: go on to its next sibling, closing every container that ends here.
      for (;;) {
        if (open === 0) return;
        if (stack[open - 1] === jsonKind.object ? this.nextMember() : this.nextItem()) break;
        open--;
      }
    }
  }

  /** As `skipValue`, with a pause offered from time to time; gives the number of values that it passed. */
  *skipInSteps(): Generator<void, number> {
    const open: number[] = [];
    const pauses = new Pauses(this.pos);
    for (let passed = 1; ; passed++) {
      if (pauses.isDue(this.pos)) yield;
      const kind = this.peek();
      if (kind === jsonKind.bad) this.failExpected("a value");
      if (kind === jsonKind.string) {
        this.openString();
        while (!this.passText(this.pos + pauseBytes)) yield;
      } else if (kind > jsonKind.array) this.passScalar(kind);
      else if (kind === jsonKind.object ? this.openObject() : this.openArray()) {
        open.push(kind);
        continue;
      }
      for (;;) {
        if (open.length === 0) return passed;
        if (open.at(-1) === jsonKind.object ? this.nextMember() : this.nextItem()) break;
        open.pop();
      }
    }
  }

  private deepen(): void {
    if (++this.depth > this.depthMax) this.fail("depth", `nested deeper than ${this.depthMax} levels`, this.pos);
  }

  private closeContainer(): false {
    this.pos++;
    this.depth--;
    return false;
  }
}
