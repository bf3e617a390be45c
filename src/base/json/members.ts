// The members of an object's text, each value as it stands: nothing is parsed that a double could change.

import { JsonCursor } from "./cursor.ts";
import { decodeText } from "./text.ts";

export interface MemberPlace {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Passes the object that a cursor stands before, and says where the value of each member is. */
export function* passMembers(cursor: JsonCursor): Generator<MemberPlace> {
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const name = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    cursor.skipBlanks();
    const from = cursor.pos;
    cursor.skipValue();
    yield { name, from, to: cursor.pos };
  }
}

/** By name; of a name that comes twice the last value counts. The text must be an object. */
export function membersOf(text: string): Map<string, string> {
  const bytes = textEncoder.encode(text);
  const members = new Map<string, string>();
  for (const { name, from, to } of passMembers(new JsonCursor(bytes)))
    members.set(name, textDecoder.decode(bytes.subarray(from, to)));
  return members;
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
