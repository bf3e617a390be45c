// A value as strict JSON with the members of all objects in one order, so that equal values are equal texts. With pauses,
// as it may have megabytes.

import type { ByteWriter } from "#base/byte-writer.ts";
import { compareText } from "#base/compare-text.ts";
import { formatJson, inPieces } from "./format.ts";
import { type JsonObject, type JsonValue, NumberText } from "./value.ts";

const pauseValues = 4096;
const sortedAtOnce = 2048;

/** Told of a member of the object itself once it is written: `text[from..to)` is its value, until the next one is written. */
export type OnMember = (key: string, value: JsonValue, text: Uint8Array, from: number, to: number) => void;

/** Written into `bytes`, which is cleared first; returned is a view of it. */
export function* formatSorted(object: JsonObject, bytes: ByteWriter, onMember?: OnMember): Generator<void, Uint8Array> {
  bytes.clear();
  yield* new SortedWriter(bytes).writeObject(object, onMember);
  return bytes.view();
}

class SortedWriter {
  private readonly bytes: ByteWriter;
  private values = 0;

  constructor(bytes: ByteWriter) {
    this.bytes = bytes;
  }

  *writeObject(object: JsonObject, onMember?: OnMember): Generator<void, void> {
    const { bytes } = this;
    const keys = yield* sortInSteps(Object.keys(object), compareKeys);
    bytes.byte(0x7b);
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      if (at > 0) bytes.byte(0x2c);
      bytes.text(`${JSON.stringify(key)}:`);
      const from = bytes.length;
      const value = object[key] as JsonValue;
      yield* this.write(value);
      onMember?.(key, value, bytes.bytes, from, bytes.length);
    }
    bytes.byte(0x7d);
  }

  private *write(value: JsonValue): Generator<void, void> {
    if (++this.values % pauseValues === 0) yield;
    if (typeof value === "string") yield* this.writeText(value);
    else if (value === null || typeof value !== "object" || value instanceof NumberText)
      this.bytes.text(formatJson(value, "strict"));
    else if (Array.isArray(value)) yield* this.writeList(value);
    else yield* this.writeObject(value);
  }

  private *writeText(text: string): Generator<void, void> {
    const { bytes } = this;
    bytes.byte(0x22);
    for (const piece of inPieces(text)) {
      bytes.text(JSON.stringify(piece).slice(1, -1));
      if (piece.length < text.length) yield;
    }
    bytes.byte(0x22);
  }

  private *writeList(items: readonly JsonValue[]): Generator<void, void> {
    const { bytes } = this;
    bytes.byte(0x5b);
    for (let at = 0; at < items.length; at++) {
      const item = items[at] as JsonValue;
      if (at > 0) bytes.byte(0x2c);
      if (typeof item !== "number") yield* this.write(item);
      else {
        if (++this.values % pauseValues === 0) yield;
        bytes.text(formatJson(item, "strict"));
      }
    }
    bytes.byte(0x5d);
  }
}

/** The order of keys in a JavaScript object to which they were added in text order: whole numbers first. */
function compareKeys(a: string, b: string): number {
  const [x, y] = [indexOf(a), indexOf(b)];
  if (x >= 0 && y >= 0) return x - y;
  if (x >= 0 || y >= 0) return x >= 0 ? -1 : 1;
  return compareText(a, b);
}

const indexMax = 2 ** 32 - 2;

function indexOf(key: string): number {
  if (key.length > 10 || !/^(?:0|[1-9]\d*)$/.test(key)) return -1;
  const index = Number(key);
  return index <= indexMax ? index : -1;
}

function* sortInSteps(keys: string[], compare: (a: string, b: string) => number): Generator<void, readonly string[]> {
  let runs: string[][] = [];
  for (let at = 0; at < keys.length; at += sortedAtOnce) {
    if (at > 0) yield;
    runs.push(keys.slice(at, at + sortedAtOnce).sort(compare));
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] as string[], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(a: string[], b: string[], compare: (a: string, b: string) => number): Generator<void, string[]> {
  const merged: string[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    if (merged.length % pauseValues === pauseValues - 1) yield;
    const isFirst = j >= b.length || (i < a.length && compare(a[i] as string, b[j] as string) <= 0);
    merged.push((isFirst ? a[i++] : b[j++]) as string);
  }
  return merged;
}
