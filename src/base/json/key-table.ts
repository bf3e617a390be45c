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
  /** The key that followed this one, and the first key of the object under it, when they were last met. */
  next: KeyNode | undefined = undefined;
  first: KeyNode | undefined = undefined;

  constructor(text: string, token: Uint8Array, bit: number) {
    this.text = text;
    this.token = token;
    this.bit = bit;
    this.lone = !text.isWellFormed();
  }
}

const keyBytesMax = 32;
const slots = 1024;
const nodes: (KeyNode | undefined)[] = new Array(slots).fill(undefined);
let nodesMade = 0;

/** The node of a key token; the table holds at most `slots` of them, a newer key takes the place of an older. */
export function findKey(bytes: Uint8Array, start: number, stop: number, escaped: boolean, wide: boolean): KeyNode {
  // Escapes have several spellings, so such keys do not take part in the bits.
  if (escaped || stop - start > keyBytesMax) return makeKey(bytes, start, stop, escaped, wide, -1);
  let hash = stop - start;
  for (let i = start; i < stop; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 10)) & (slots - 1);
  const known = nodes[slot];
  if (known !== undefined && isKey(known, bytes, start, stop)) return known;
  const made = makeKey(bytes, start, stop, false, wide, 1 << (nodesMade++ & 31));
  nodes[slot] = made;
  return made;
}

function makeKey(b: Uint8Array, start: number, stop: number, escaped: boolean, wide: boolean, bit: number): KeyNode {
  const token = new Uint8Array(stop - start + 3);
  token.set(b.subarray(start - 1, stop + 1));
  token[token.length - 1] = 0x3a;
  return new KeyNode(decodeText(b, start, stop, escaped, wide), token, bit);
}

function isKey(node: KeyNode, bytes: Uint8Array, start: number, stop: number): boolean {
  const { token } = node;
  const size = stop - start;
  if (token.length !== size + 3) return false;
  for (let i = 0; i < size; i++) if (token[i + 1] !== bytes[start + i]) return false;
  return true;
}
