// Keys that parseJson has met, and which key followed which. Real traffic repeats a few shapes millions of times, so
// the next key is nearly always the one that came next last time: comparing it with the bytes ahead takes the place
// of scanning, hashing and making a string. A wrong guess costs one comparison and changes nothing else.

import { decodeText } from "./text.ts";

export class KeyNode {
  readonly text: string;
  /** The key as it stands in compact JSON, with quotes and colon. */
  readonly token: Uint8Array;
  /** One bit of 32; keys with different bits are different. */
  readonly bit: number;
  /** The key has half of a surrogate pair. */
  readonly lone: boolean;
  /** Its place in the table, -1 when it has none. */
  readonly slot: number;
  /**
   * Slots of the key that followed this one, and of the first key of the object under it, when they were last met.
   * Not the keys themselves: a chain of them would keep every key of a huge object alive.
   */
  next = -1;
  first = -1;

  constructor(text: string, token: Uint8Array, bit: number, slot: number) {
    this.slot = slot;
    this.text = text;
    this.token = token;
    this.bit = bit;
    this.lone = !text.isWellFormed();
  }
}

const keyBytesMax = 32;
/** Many more than any format has keys: two of them in one slot would take turns in it, for every record. */
const slots = 8192;
const nodes: (KeyNode | undefined)[] = new Array(slots).fill(undefined);
let nodesMade = 0;

/** The key in a slot; any key will do, since whoever guesses compares. */
export function keyAt(slot: number): KeyNode | undefined {
  return slot < 0 ? undefined : nodes[slot];
}

/** The node of a key token; the table holds at most `slots` of them, a newer key takes the place of an older. */
export function findKey(bytes: Uint8Array, start: number, stop: number, escaped: boolean, wide: boolean): KeyNode {
  // Escapes have several spellings, so such keys do not take part in the bits.
  if (escaped || stop - start > keyBytesMax) {
    return new KeyNode(decodeText(bytes, start, stop, escaped, wide), tokenOf(bytes, start, stop), -1, -1);
  }
  let hash = stop - start;
  for (let i = start; i < stop; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 13)) & (slots - 1);
  const known = nodes[slot];
  if (known !== undefined && isKey(known, bytes, start, stop)) return known;
  const text = decodeText(bytes, start, stop, false, wide);
  const made = new KeyNode(text, tokenOf(bytes, start, stop), 1 << (nodesMade++ & 31), slot);
  nodes[slot] = made;
  return made;
}

function tokenOf(bytes: Uint8Array, start: number, stop: number): Uint8Array {
  const token = new Uint8Array(stop - start + 3);
  token.set(bytes.subarray(start - 1, stop + 1));
  token[token.length - 1] = 0x3a;
  return token;
}

function isKey(node: KeyNode, bytes: Uint8Array, start: number, stop: number): boolean {
  const { token } = node;
  const size = stop - start;
  if (token.length !== size + 3) return false;
  for (let i = 0; i < size; i++) if (token[i + 1] !== bytes[start + i]) return false;
  return true;
}
