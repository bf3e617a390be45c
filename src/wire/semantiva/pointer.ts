// JSON pointers: the value at one, and where in a line's bytes that value stands.

import { JsonCursor, jsonKind } from "#base/json/cursor.ts";
import { decodeText } from "#base/json/text.ts";
import { type JsonValue, NumberText } from "#base/json/value.ts";

function toSegments(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
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
  const cursor = new JsonCursor(bytes);
  cursor.skipBlanks();
  let found = cursor.pos;
  for (const segment of toSegments(pointer)) {
    const kind = cursor.peek();
    const next =
      kind === jsonKind.object
        ? locateMember(cursor, segment)
        : kind === jsonKind.array
          ? locateItem(cursor, segment)
          : -1;
    if (next < 0) return found;
    found = next;
    cursor.reset(bytes, found);
  }
  return found;
}

function locateMember(cursor: JsonCursor, name: string): number {
  let found = -1;
  for (let more = cursor.openObject(); more; more = cursor.nextMember()) {
    const isIt = decodeText(cursor.bytes, cursor.start, cursor.stop, cursor.escaped, cursor.wide) === name;
    cursor.skipBlanks();
    if (isIt) found = cursor.pos;
    cursor.skipValue();
  }
  return found;
}

function locateItem(cursor: JsonCursor, segment: string): number {
  let index = Number(segment);
  for (let more = cursor.openArray(); more; more = cursor.nextItem()) {
    cursor.skipBlanks();
    if (index-- === 0) return cursor.pos;
    cursor.skipValue();
  }
  return -1;
}
