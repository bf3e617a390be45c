// Passes a long text once, with pauses, and notes its long values, so that later readers of the same bytes can step over them
// (see passed-values.ts). Values that are not strict JSON as they stand get their strict form here too.

import { JsonCursor, jsonKind } from "./cursor.ts";
import { longValueBytes, type PassedValues, passedInto } from "./passed-values.ts";
import { Pauses, pauseBytes } from "./pauses.ts";
import { needsRewriting, oddityOfNumber } from "./strict.ts";
import { StrictWriter } from "./strict-writer.ts";
import { oddity } from "./value.ts";

/** `bytes[start..end)` is to be one value, and must not change after that. Throws JsonTrouble as its readers would. */
export function* lookThrough(bytes: Uint8Array, start = 0, end: number = bytes.length): Generator<void, void> {
  const cursor = new JsonCursor(bytes, start, end);
  yield* lookThroughNext(cursor);
  cursor.finish();
}

/** The same for the value at which the cursor stands, which is passed. */
export function* lookThroughNext(cursor: JsonCursor): Generator<void, void> {
  const found: PassedValues = new Map();
  yield* new LongScan(cursor, found).scan();
  if (found.size === 0) return;
  const known = passedInto(cursor.bytes);
  for (const [start, value] of found) known.set(start, value);
  yield;
  yield* makeStrict(cursor.bytes, found);
}

class Container {
  readonly kind: number;
  readonly start: number;
  readonly names: Set<string> | null;
  oddities = 0;
  blanks = false;

  constructor(kind: number, start: number) {
    this.kind = kind;
    this.start = start;
    this.names = kind === jsonKind.object ? new Set() : null;
  }
}

class LongScan {
  private readonly cursor: JsonCursor;
  private readonly found: PassedValues;
  private readonly open: Container[] = [];

  constructor(cursor: JsonCursor, found: PassedValues) {
    this.cursor = cursor;
    this.found = found;
  }

  *scan(): Generator<void, void> {
    const { cursor } = this;
    const pauses = new Pauses(cursor.pos);
    for (;;) {
      if (pauses.isDue(cursor.pos)) yield;
      const kind = cursor.peek();
      if (kind === jsonKind.bad) cursor.failExpected("a value");
      this.takeBlanks(this.open.at(-1));
      if (kind === jsonKind.string) {
        const { pos: start } = cursor;
        cursor.openString();
        while (!cursor.passText(cursor.pos + pauseBytes)) yield;
        this.noteText(start);
      } else if (kind > jsonKind.array) this.passScalar(kind);
      else if (this.enter(kind)) continue;
      if (!this.goOn()) return;
    }
  }

  /** False when the container is empty, and passed. */
  private enter(kind: number): boolean {
    const { cursor } = this;
    const container = new Container(kind, cursor.pos);
    const more = kind === jsonKind.object ? cursor.openObject() : cursor.openArray();
    this.takeBlanks(container);
    if (!more) {
      this.close(container);
      return false;
    }
    this.noteKey(container);
    this.open.push(container);
    return true;
  }

  /** A value has ended: goes to its next sibling, closing every container that ends here; false after the last. */
  private goOn(): boolean {
    const { cursor, open } = this;
    for (;;) {
      const around = open.at(-1);
      if (around === undefined) return false;
      const more = around.kind === jsonKind.object ? cursor.nextMember() : cursor.nextItem();
      this.takeBlanks(around);
      if (more) {
        this.noteKey(around);
        return true;
      }
      open.pop();
      this.close(around);
    }
  }

  private noteText(start: number): void {
    const { cursor } = this;
    const oddities = loneOf(cursor);
    const around = this.open.at(-1);
    if (around !== undefined) around.oddities |= oddities;
    if (cursor.pos - start >= longValueBytes) this.note(start, oddities, false);
  }

  private passScalar(kind: number): void {
    const { cursor } = this;
    cursor.passScalar(kind);
    const around = this.open.at(-1);
    if (around !== undefined && kind === jsonKind.number) around.oddities |= oddityOfNumber(cursor);
  }

  private close({ start, oddities, blanks }: Container): void {
    const { cursor } = this;
    if (cursor.pos - start >= longValueBytes) {
      cursor.escaped = false;
      cursor.wide = false;
      cursor.lone = false;
      this.note(start, oddities, blanks);
    }
    const around = this.open.at(-1);
    if (around === undefined) return;
    around.oddities |= oddities;
    around.blanks ||= blanks;
  }

  private note(start: number, oddities: number, blanks: boolean): void {
    const { pos: end, escaped, wide, lone } = this.cursor;
    this.found.set(start, { end, oddities, blanks, escaped, wide, lone, strict: null });
  }

  private noteKey(container: Container): void {
    const { names } = container;
    if (names === null) return;
    const { cursor } = this;
    container.oddities |= loneOf(cursor);
    const count = names.size;
    names.add(cursor.text());
    if (names.size === count) container.oddities |= oddity.duplicateKeys;
  }

  private takeBlanks(container: Container | undefined): void {
    const { cursor } = this;
    if (!cursor.blanks) return;
    cursor.blanks = false;
    if (container !== undefined) container.blanks = true;
  }
}

function loneOf({ lone }: JsonCursor): number {
  return lone ? oddity.loneSurrogate : 0;
}

/**
 * Makes the strict form of all values that need one, in one pass over the outermost: the strict form of an inner value is a
 * part of it. A value that was replaced by a later one with the same key gets none.
 */
function* makeStrict(bytes: Uint8Array, found: PassedValues): Generator<void, void> {
  const needing = new Map([...found].filter(([, value]) => needsRewriting(value)));
  let passedTo = 0;
  for (const [start, { end }] of [...needing].sort(([a], [b]) => a - b)) {
    if (start < passedTo) continue;
    passedTo = end;
    const writer = new StrictWriter(bytes, start, end, (at) => needing.has(at));
    yield* writer.write();
    for (const { start: at, from, to } of writer.places) {
      const value = needing.get(at);
      if (value !== undefined && from >= 0) value.strict = writer.text(from, to);
    }
  }
}
