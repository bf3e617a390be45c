// A column of LowCardinality(String): the texts that rows have, and for each row the number of its text. With pauses, as
// there may be hundreds of thousands of texts.
//
// Data layout (after the column's name and type):
//   u64 1 (version), u64 (index type | 1<<9 | 1<<10), u64 keys, the keys as strings,
//   u64 rows, one index a row in 1, 2 or 4 bytes. Key 0 is ''.

import type { DictColumn } from "#base/dict-column.ts";
import { atOnce } from "#base/turns.ts";
import type { ByteSink } from "./byte-sink.ts";
import { type Run, rowCount, viewOf } from "./encode-column.ts";

/** A LowCardinality(String) with one text in every row. */
export function encodeConstant(sink: ByteSink, text: string, rows: number): void {
  if (rows > 0) atOnce(writeDict(sink, ["", text], new Uint32Array(rows).fill(1)));
}

const unseen = 0xffffffff;
const additionalKeys = 1 << 9;
const updateDictionary = 1 << 10;
/** Rows between two looks at how many texts were new, and texts between two pauses. */
const rowsAtOnce = 16_384;
const pauseKeys = 16_384;

/** The dictionaries of all parts become one; only keys that a kept row uses go into it. */
export function* encodeDict(sink: ByteSink, parts: readonly DictColumn[], runs: readonly Run[]): Generator<void, void> {
  const dict = new JoinedDict(rowCount(runs));
  let paused = 0;
  for (const { part, start, end } of runs) {
    dict.begin(parts[part] as DictColumn);
    for (let from = start; from < end; from += rowsAtOnce) {
      dict.add(from, Math.min(end, from + rowsAtOnce));
      if (dict.keys.length < paused + pauseKeys) continue;
      paused = dict.keys.length;
      yield;
    }
  }
  yield* writeDict(sink, dict.keys, dict.codes);
}

class JoinedDict {
  readonly keys: string[] = [""];
  readonly codes: Uint32Array;
  private at = 0;
  private column: DictColumn | null = null;
  /** By the column's own code: the one in `keys`. */
  private remap = new Uint32Array(0);
  /** The texts of one column differ from each other, so this is needed only from the second column on. */
  private codeOf: Map<string, number> | null = null;

  constructor(rows: number) {
    this.codes = new Uint32Array(rows);
  }

  begin(column: DictColumn): void {
    if (column === this.column) return;
    if (this.column !== null) this.codeOf ??= new Map(this.keys.map((key, code) => [key, code]));
    this.column = column;
    const { length } = column.keys;
    if (this.remap.length < length) this.remap = new Uint32Array(length * 2);
    this.remap.fill(unseen, 0, length);
  }

  /** Adds these rows of the column that was begun. */
  add(start: number, end: number): void {
    const { remap, codes, column } = this;
    const own = (column as DictColumn).codes;
    let { at } = this;
    for (let row = start; row < end; row++) {
      const code = own[row] as number;
      const known = remap[code] as number;
      codes[at++] = known === unseen ? this.meet(code) : known;
    }
    this.at = at;
  }

  private meet(own: number): number {
    const key = (this.column as DictColumn).keys[own] as string;
    const known = key === "" ? 0 : this.codeOf?.get(key);
    const code = known ?? this.keys.push(key) - 1;
    if (known === undefined) this.codeOf?.set(key, code);
    this.remap[own] = code;
    return code;
  }
}

function* writeDict(sink: ByteSink, keys: readonly string[], codes: Uint32Array): Generator<void, void> {
  const indexType = keys.length <= 256 ? 0 : keys.length <= 65536 ? 1 : 2;
  sink.reserve(24);
  sink.writeUInt64(1);
  sink.writeUInt64(indexType | additionalKeys | updateDictionary);
  sink.writeUInt64(keys.length);
  for (let at = 0; at < keys.length; at++) {
    if (at % pauseKeys === pauseKeys - 1) yield;
    sink.writeText(keys[at] as string);
  }
  sink.reserve(8 + codes.length * 4);
  sink.writeUInt64(codes.length);
  if (indexType === 0) sink.writeBytes(Uint8Array.from(codes));
  else if (indexType === 1)
    sink.writeBytes(viewOf(new Uint8Array(Uint16Array.from(codes).buffer), 0, codes.length * 2));
  else sink.writeBytes(viewOf(codes, 0, codes.length));
}
