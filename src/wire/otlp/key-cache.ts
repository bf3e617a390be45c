// Names of attributes and spans, looked up by their bytes: a stream repeats a few names millions of times, and this table
// saves decoding and escaping them and asking what they mean.

import { isUtf8 } from "node:buffer";

export interface Key<Role> {
  readonly text: string;
  /** As it stands in JSON, with quotes and colon. */
  readonly token: Uint8Array;
  readonly role: Role;
  /** Its bytes are UTF-8; else `text` has replacement characters. */
  readonly isExact: boolean;
  readonly bytes: Uint8Array;
}

const slots = 4096;
/** Longer names hardly recur. */
const bytesMax = 256;
const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true });
const textEncoder = new TextEncoder();

export class KeyCache<Role> {
  private readonly keys: (Key<Role> | undefined)[] = new Array(slots).fill(undefined);
  private readonly roleOf: (text: string) => Role;

  constructor(roleOf: (text: string) => Role) {
    this.roleOf = roleOf;
  }

  find(bytes: Uint8Array, from: number, to: number): Key<Role> {
    if (to - from > bytesMax) return this.make(bytes.slice(from, to));
    let hash = to - from;
    for (let i = from; i < to; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    const slot = (hash ^ (hash >>> 13)) & (slots - 1);
    const known = this.keys[slot];
    if (known !== undefined && isSame(known.bytes, bytes, from, to)) return known;
    const made = this.make(bytes.slice(from, to));
    this.keys[slot] = made;
    return made;
  }

  private make(bytes: Uint8Array): Key<Role> {
    const text = textDecoder.decode(bytes);
    const token = textEncoder.encode(`${JSON.stringify(text)}:`);
    return { text, token, role: this.roleOf(text), isExact: isUtf8(bytes), bytes };
  }
}

export function isSame(known: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  const size = to - from;
  if (known.length !== size) return false;
  for (let i = 0; i < size; i++) if (known[i] !== bytes[from + i]) return false;
  return true;
}
