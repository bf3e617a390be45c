// Names that recur in one place of a stream (runs, workers, metrics): from their bytes to a text and
// its code in a dictionary, without making a string each time.

import type { DictColumn } from "#base/columns.ts";
import { decodeAscii } from "#base/json/text.ts";
import { hashText } from "./content.ts";

const nameBytesMax = 1024;
const slots = 256;
const noBytes = new Uint8Array(0);

/** A text that remembers its code in the dictionary it was last asked for. */
export class Name {
  readonly text: string;
  readonly hash: number;
  /** Only for names of a NameTable. */
  readonly bytes: Uint8Array;
  /** The serial number of the dictionary: a reference would keep it in memory. */
  private dict = 0;
  private code = 0;

  constructor(text: string, bytes: Uint8Array = noBytes) {
    this.text = text;
    this.hash = hashText(text);
    this.bytes = bytes;
  }

  codeIn(dict: DictColumn): number {
    if (this.dict !== dict.serial) {
      this.dict = dict.serial;
      this.code = dict.intern(this.text);
    }
    return this.code;
  }
}

export class NameTable {
  /** The name read last. */
  name: Name = new Name("");
  /** Made when a second name comes: many streams have only one. */
  private table: (Name | undefined)[] | undefined;

  /** Reads the plain ASCII string at `at`; returns where its closing quote is, or -1 when there is none. */
  read(source: Uint8Array, at: number, end: number): number {
    const { bytes } = this.name;
    const known = bytes.length;
    let i = 0;
    while (i < known && source[at + i] === bytes[i]) i++;
    if (i === known && known > 0 && source[at + i] === 0x22) return at + i;
    return this.find(source, at, end);
  }

  private find(source: Uint8Array, at: number, end: number): number {
    let hash = 0;
    let i = at;
    for (; i < end; i++) {
      const c = source[i] as number;
      if (c === 0x22) break;
      if (c < 0x20 || c > 0x7e || c === 0x5c) return -1;
      hash = (Math.imul(hash, 31) + c) | 0;
    }
    if (i === at || i === end || i - at > nameBytesMax) return -1;
    if (this.name.bytes.length === 0) {
      this.name = toName(source, at, i);
      return i;
    }
    const slot = (hash ^ (hash >>> 11)) & (slots - 1);
    this.table ??= new Array(slots).fill(undefined);
    const known = this.table[slot];
    if (known !== undefined && isName(known.bytes, source, at, i)) {
      this.name = known;
      return i;
    }
    this.name = toName(source, at, i);
    this.table[slot] = this.name;
    return i;
  }
}

/** Names of all streams: those of a fleet share the names of workers and metrics, with their codes. */
let common = new Map<string, Name>();
const commonMax = 4096;
const commonBytesMax = 128;

function toName(source: Uint8Array, start: number, end: number): Name {
  const text = decodeAscii(source, start, end);
  const known = common.get(text);
  if (known !== undefined) return known;
  const name = new Name(text, source.slice(start, end));
  if (end - start > commonBytesMax) return name;
  if (common.size >= commonMax) common = new Map();
  common.set(text, name);
  return name;
}

function isName(bytes: Uint8Array, source: Uint8Array, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== source[start + i]) return false;
  return true;
}
