// Cirron's sentinel lines: a program that runs under a wrapper prints its batches to standard output, one JSON object a
// line, `{"__cirron_event__": "trace_batch" | "trace_blob", …, "payload": …}`. What the program prints itself may stand
// before it on the same line, and may look like the beginning of one.

import { JsonCursor } from "#base/json/cursor.ts";
import { parseJson } from "#base/json/parse.ts";
import { locatePointer } from "#base/json/pointer.ts";
import { isJsonObject, type JsonObject } from "#base/json/value.ts";

interface Placed {
  /** Where in the line the sentinel begins and ends; the bytes around it are other output. */
  readonly start: number;
  readonly end: number;
}

export type Sentinel =
  | (Placed & {
      readonly kind: "trace_batch";
      /** The batch as it was printed: a view of the line. */
      readonly batch: Uint8Array;
    })
  | (Placed & {
      readonly kind: "trace_blob";
      readonly remoteKey: string;
      /** Relative to the program's working directory. */
      readonly localPath: string;
    });

const opening = Buffer.from('{"__cirron_event__"');

/** Every whole batch and blob of a line, in order. */
export function findSentinels(line: Uint8Array): Sentinel[] {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  const found: Sentinel[] = [];
  for (let at = bytes.indexOf(opening); at >= 0; at = bytes.indexOf(opening, at)) {
    const sentinel = decodeSentinel(line, at);
    if (sentinel) found.push(sentinel);
    at = sentinel?.end ?? at + 1;
  }
  return found;
}

function decodeSentinel(line: Uint8Array, start: number): Sentinel | undefined {
  const end = findEnd(line, start);
  if (end === undefined) return undefined;
  const text = line.subarray(start, end);
  const parsed = parseJson(text);
  if (!parsed.ok) return undefined;
  const { __cirron_event__: kind, payload } = parsed.value as JsonObject;
  if (kind === "trace_batch" && isJsonObject(payload)) {
    const from = locatePointer(text, "/payload");
    return { kind, start, end, batch: text.subarray(from, findEnd(text, from)) };
  }
  if (kind === "trace_blob" && isJsonObject(payload)) {
    const { remote_key: remoteKey, local_path: localPath } = payload;
    if (typeof remoteKey === "string" && typeof localPath === "string")
      return { kind, start, end, remoteKey, localPath };
  }
  // Not from a known SDK: it stays part of the output.
  return undefined;
}

/** The end of the JSON value that begins here, or undefined when it is torn. */
function findEnd(bytes: Uint8Array, start: number): number | undefined {
  const cursor = new JsonCursor(bytes, start);
  try {
    cursor.skipValue();
    return cursor.pos;
  } catch {
    return undefined;
  }
}
