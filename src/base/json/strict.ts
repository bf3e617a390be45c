// JSON text to strict JSON text: compact, RFC 8259, every key once. Tokens are copied as they were written, so 1.0
// stays 1.0 and an escape stays an escape; most values need no change at all and are then used where they stand.

import { atOnce } from "#base/turns.ts";
import { JsonCursor, jsonKind, numberForm } from "./cursor.ts";
import { parseNumber } from "./number.ts";
import { type PassedValue, passedIn } from "./passed-values.ts";
import { StrictWriter } from "./strict-writer.ts";
import { decodeText } from "./text.ts";
import { oddity } from "./value.ts";

/** Oddities that strict JSON cannot express: to return such a text exactly, the original must be kept. */
export const lossyOddities = oddity.nonFinite | oddity.duplicateKeys;

export interface StrictText {
  /** The text is `bytes[start..end)`: a part of the input when nothing changed, else bytes of its own. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly changed: boolean;
  /** Bits of `oddity` found in the original. */
  readonly oddities: number;
}

/** `bytes[start..end)` must be one JSON value, as found with a cursor; otherwise JsonTrouble is thrown. */
export function toStrictJson(bytes: Uint8Array, start = 0, end: number = bytes.length): StrictText {
  const known = passedIn(bytes, start, end)?.get(start);
  if (known?.end === end && known.strict !== null) {
    const { strict, oddities } = known;
    return { bytes: strict, start: 0, end: strict.length, changed: true, oddities };
  }
  const cursor = new JsonCursor(bytes, start, end);
  const scan = new StrictScan(cursor);
  const isStrict = scan.scan();
  const { oddities } = scan;
  cursor.finish();
  if (isStrict && !cursor.blanks) return { bytes, start, end, changed: false, oddities };
  const text = rewriteStrict(bytes, start, end);
  return { bytes: text, start: 0, end: text.length, changed: true, oddities };
}

/** The strict form of one checked JSON value: bytes of its own, or a view where a long value is strict as it stands. */
export function rewriteStrict(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const known = passedIn(bytes, start, end)?.get(start);
  if (known?.end === end) {
    if (known.strict !== null) return known.strict;
    if (!needsRewriting(known)) return bytes.subarray(start, end);
  }
  const writer = new StrictWriter(bytes, start, end);
  atOnce(writer.write());
  return writer.text();
}

/** Whether the strict form of a value is another text. */
export function needsRewriting({ blanks, oddities }: Pick<PassedValue, "blanks" | "oddities">): boolean {
  return blanks || (oddities & lossyOddities) !== 0;
}

/** Offsets of the keys of all open objects, two a key. One scan runs at a time, so all share it. */
let openKeys = new Int32Array(256);

/** Above this many keys an object's keys are compared through a set. */
const comparedKeysMax = 32;

/** Thrown by a scan at a value that is too long to be passed at once: it must be looked through first. */
export class LongValue extends Error {}

/** Passes values as `skipValue` does and says whether they stand in strict form; makes nothing unless keys are odd. */
export class StrictScan {
  readonly cursor: JsonCursor;
  /** Bits of `oddity` seen since the caller last cleared them. */
  oddities = 0;
  /** Beyond this offset it throws LongValue. */
  giveUpAt: number = Number.POSITIVE_INFINITY;
  private keyCount = 0;

  constructor(cursor: JsonCursor) {
    this.cursor = cursor;
  }

  /** Passes one value; true when its text is strict and compact as it stands. */
  scan(): boolean {
    const { cursor } = this;
    const before = this.oddities;
    this.oddities = 0;
    cursor.blanks = false;
    this.keyCount = 0;
    this.scanValue();
    const isStrict = (this.oddities & lossyOddities) === 0 && !cursor.blanks;
    this.oddities |= before;
    return isStrict;
  }

  private scanValue(): void {
    const { cursor } = this;
    const kind = cursor.peek();
    if (cursor.pos > this.giveUpAt) throw new LongValue();
    const known = cursor.passKnown();
    if (known !== undefined) {
      this.oddities |= known.oddities;
      if (known.blanks) cursor.blanks = true;
    } else if (kind === jsonKind.object) this.scanObject();
    else if (kind === jsonKind.array) {
      for (let more = cursor.openArray(); more; more = cursor.nextItem()) this.scanValue();
    } else if (kind === jsonKind.bad) cursor.failExpected("a value");
    else if (kind === jsonKind.string) {
      this.passString();
      if (cursor.lone) this.oddities |= oddity.loneSurrogate;
    } else {
      cursor.passScalar(kind);
      if (kind === jsonKind.number) this.oddities |= oddityOfNumber(cursor);
    }
  }

  /** Passes the string that begins here, within the same limit. */
  passString(): void {
    const { cursor } = this;
    if (cursor.passKnown() !== undefined) return;
    cursor.openString();
    if (!cursor.passText(this.giveUpAt)) throw new LongValue();
  }

  private scanObject(): void {
    const { cursor } = this;
    const base = this.keyCount;
    let names: Set<string> | undefined;
    for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
      if (cursor.lone) this.oddities |= oddity.loneSurrogate;
      if (names === undefined && (cursor.escaped || this.keyCount - base >= comparedKeysMax))
        names = this.namesFrom(base);
      if (names === undefined) {
        if (this.isKeyAmong(base)) this.oddities |= oddity.duplicateKeys;
        this.pushKey();
      } else {
        const name = cursor.text();
        if (names.has(name)) this.oddities |= oddity.duplicateKeys;
        names.add(name);
      }
      this.scanValue();
    }
    this.keyCount = base;
  }

  private pushKey(): void {
    const at = this.keyCount * 2;
    if (at === openKeys.length) {
      const grown = new Int32Array(at * 2);
      grown.set(openKeys);
      openKeys = grown;
    }
    openKeys[at] = this.cursor.start;
    openKeys[at + 1] = this.cursor.stop;
    this.keyCount++;
  }

  private isKeyAmong(base: number): boolean {
    const { bytes, start } = this.cursor;
    const keys = openKeys;
    const size = this.cursor.stop - start;
    for (let key = base; key < this.keyCount; key++) {
      const other = keys[key * 2] as number;
      if ((keys[key * 2 + 1] as number) - other !== size) continue;
      let i = 0;
      while (i < size && bytes[other + i] === bytes[start + i]) i++;
      if (i === size) return true;
    }
    return false;
  }

  private namesFrom(base: number): Set<string> {
    const names = new Set<string>();
    for (let key = base; key < this.keyCount; key++) {
      const start = openKeys[key * 2] as number;
      const stop = openKeys[key * 2 + 1] as number;
      names.add(decodeText(this.cursor.bytes, start, stop, false, true));
    }
    return names;
  }
}

/** The oddity of the number that the cursor has just passed. */
export function oddityOfNumber({ bytes, start, stop, form }: JsonCursor): number {
  if (form === numberForm.nonFinite) return oddity.nonFinite;
  if (form !== numberForm.integer || stop - start <= 15) return 0;
  return typeof parseNumber(bytes, start, stop, form) === "number" ? 0 : oddity.bigInteger;
}
