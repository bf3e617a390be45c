// The members of an object's text, each value as it stands: nothing is parsed that a double could change.

import { JsonCursor } from "./cursor.ts";
import { decodeText } from "./text.ts";

/** By name; of a name that comes twice the last value counts. The text must be an object. */
export function membersOf(text: string): Map<string, string> {
  const cursor = new JsonCursor(textEncoder.encode(text));
  const members = new Map<string, string>();
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const name = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide);
    cursor.peek();
    const from = cursor.pos;
    cursor.skipValue();
    members.set(name, textDecoder.decode(cursor.bytes.subarray(from, cursor.pos)));
  }
  return members;
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
