// JSON pointers: the value at one, and where in a line's bytes that value stands.

import { JsonCursor, jsonKind } from "./cursor.ts";
import { passItems, passMembers } from "./members.ts";
import { toStrictJson } from "./strict.ts";
import { type JsonValue, NumberText } from "./value.ts";

let lastPointer = "";
let lastSegments: readonly string[] = [];

/** Remembers the last pointer: the same one is asked for in thousands of records. */
function toSegments(pointer: string): readonly string[] {
  if (pointer === lastPointer) return lastSegments;
  lastSegments = pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  lastPointer = pointer;
  return lastSegments;
}

export function atPointer(value: JsonValue, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value;
  for (const segment of toSegments(pointer)) {
    if (typeof at !== "object" || at === null || at instanceof NumberText) return undefined;
    if (Array.isArray(at)) at = at[Number(segment)];
    else at = Object.hasOwn(at, segment) ? at[segment] : undefined;
  }
  return at;
}

/** The byte offset of the value at a pointer, in a text that is known to be JSON; of its nearest ancestor when the
 * value is not there. With a key twice, the last one counts, as for the value itself. */
export function locatePointer(bytes: Uint8Array, pointer: string): number {
  return findPointer(bytes, pointer).cursor.pos;
}

/** A cursor that stands before the value at a pointer, or before its nearest ancestor. */
function findPointer(bytes: Uint8Array, pointer: string): { readonly cursor: JsonCursor; readonly isThere: boolean } {
  const cursor = new JsonCursor(bytes);
  for (const segment of toSegments(pointer)) {
    const kind = cursor.peek();
    const { pos } = cursor;
    const found =
      kind === jsonKind.object
        ? locateMember(cursor, segment)
        : kind === jsonKind.array
          ? locateItem(cursor, Number(segment))
          : undefined;
    cursor.reset(bytes, found ?? pos);
    if (found === undefined) return { cursor, isThere: false };
  }
  cursor.skipBlanks();
  return { cursor, isThere: true };
}

function locateMember(cursor: JsonCursor, name: string): number | undefined {
  let found: number | undefined;
  for (const member of passMembers(cursor)) if (member.name === name) found = member.from;
  return found;
}

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

function locateItem(cursor: JsonCursor, index: number): number | undefined {
  let at = 0;
  for (const { from } of passItems(cursor)) if (at++ === index) return from;
  return undefined;
}

/** The members of the object at a pointer as strict JSON text, each as it was written: 1.0 stays 1.0. Empty when there
 * is not an object there. */
export function memberTexts(bytes: Uint8Array, pointer: string): Map<string, string> {
  const texts = new Map<string, string>();
  const { cursor, isThere } = findPointer(bytes, pointer);
  if (!isThere || cursor.peek() !== jsonKind.object) return texts;
  for (const { name, from, to } of passMembers(cursor)) {
    const strict = toStrictJson(bytes, from, to);
    texts.set(name, textDecoder.decode(strict.bytes.subarray(strict.start, strict.end)));
  }
  return texts;
}

/** The items of the array at a pointer, each as the bytes it is written in; views of the input. */
export function itemBytes(bytes: Uint8Array, pointer: string): Uint8Array[] {
  const { cursor, isThere } = findPointer(bytes, pointer);
  if (!isThere || cursor.peek() !== jsonKind.array) return [];
  return Array.from(passItems(cursor), ({ from, to }) => bytes.subarray(from, to));
}
