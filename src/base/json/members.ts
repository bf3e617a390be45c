// The members of an object's text, each value as written: nothing is parsed that a double could change.

import { atOnce } from "#base/turns.ts";
import { JsonCursor } from "./cursor.ts";
import { lookThrough } from "./look-through.ts";
import { longValueBytes } from "./passed-values.ts";
import { TextGatherer, type Texts } from "./texts.ts";

export interface ValuePlace {
  readonly from: number;
  readonly to: number;
}

export interface MemberPlace extends ValuePlace {
  readonly name: string;
  /** Where its key begins. */
  readonly keyFrom: number;
}

/** Passes the object that a cursor stands before, and says where the value of each member is. */
export function* passMembers(cursor: JsonCursor): Generator<MemberPlace> {
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const keyFrom = cursor.start - 1;
    const name = cursor.text();
    yield { name, keyFrom, ...passValue(cursor) };
  }
}

/** The same for the items of a list. */
export function* passItems(cursor: JsonCursor): Generator<ValuePlace> {
  for (let more = cursor.openArray(); more; more = cursor.nextItem()) yield passValue(cursor);
}

function passValue(cursor: JsonCursor): ValuePlace {
  cursor.skipBlanks();
  const from = cursor.pos;
  cursor.skipValue();
  return { from, to: cursor.pos };
}

/** By name; if a name occurs twice, the last value counts. The text must be an object. */
export function membersOf(text: string): Map<string, string> {
  return atOnce(membersInSteps(text));
}

const pauseMembers = 2048;

/** The same with pauses, for an object of many members or large ones. */
export function* membersInSteps(text: string): Generator<void, Map<string, string>> {
  const { bytes, cursor } = yield* open(text);
  const members = new Map<string, string>();
  for (const { name, from, to } of passMembers(cursor)) {
    if (members.size % pauseMembers === pauseMembers - 1 || to - from > longValueBytes) yield;
    members.set(name, textDecoder.decode(bytes.subarray(from, to)));
  }
  return members;
}

/** The items of a list's text, each as it stands, with pauses. The text must be a list. */
export function* itemsInSteps(text: string): Generator<void, string[]> {
  const { bytes, cursor } = yield* open(text);
  const items: string[] = [];
  for (const { from, to } of passItems(cursor)) {
    if (items.length % pauseMembers === pauseMembers - 1 || to - from > longValueBytes) yield;
    items.push(textDecoder.decode(bytes.subarray(from, to)));
  }
  return items;
}

/**
 * The text of an object with these members, then those of the object `more`. If both have a member, it gets the value from
 * `more`. With pauses, because it may be large.
 */
export function* mergeMembers(members: ReadonlyMap<string, string | Texts>, more: string): Generator<void, Texts> {
  const merged = new Map(members);
  const others: string[] = [];
  if (more !== "") {
    const { bytes, cursor } = yield* open(more);
    const passed = new Others(bytes, others);
    let count = 0;
    for (const { name, keyFrom, from, to } of passMembers(cursor)) {
      if (++count % pauseMembers === 0) yield;
      if (merged.has(name)) merged.set(name, textDecoder.decode(bytes.subarray(from, to)));
      else passed.add(keyFrom, to);
    }
    yield* passed.finish();
  }
  const texts = new TextGatherer();
  texts.add("{");
  let count = 0;
  for (const [name, value] of merged) {
    if (++count % pauseMembers === 0) yield;
    texts.add(`${count === 1 ? "" : ","}${JSON.stringify(name)}:`);
    texts.add(value);
  }
  for (const text of others) {
    if (++count > 1) texts.add(",");
    texts.add(text);
  }
  texts.add("}");
  return texts.finish();
}

/** Members that are copied as written: neighbours as one text. */
class Others {
  private readonly bytes: Uint8Array;
  private readonly texts: string[];
  private readonly runs: [from: number, to: number][] = [];

  constructor(bytes: Uint8Array, texts: string[]) {
    this.bytes = bytes;
    this.texts = texts;
  }

  add(from: number, to: number): void {
    const last = this.runs.at(-1);
    // Only the comma stands between them.
    if (last !== undefined && last[1] === from - 1) last[1] = to;
    else this.runs.push([from, to]);
  }

  *finish(): Generator<void, void> {
    for (const [from, to] of this.runs) {
      if (to - from > longValueBytes) yield;
      this.texts.push(textDecoder.decode(this.bytes.subarray(from, to)));
    }
  }
}

function* open(text: string): Generator<void, { bytes: Uint8Array; cursor: JsonCursor }> {
  const bytes = textEncoder.encode(text);
  if (bytes.length > longValueBytes) {
    yield;
    yield* lookThrough(bytes);
  }
  return { bytes, cursor: new JsonCursor(bytes) };
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
