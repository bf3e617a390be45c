// Bytes of a JSON string to a JavaScript string. The cursor has already checked them: escapes are well formed and
// the UTF-8 is valid.

import { hexDigit } from "./byte-class.ts";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

type Slice = (this: Uint8Array, start: number, end: number) => string;
/** The runtime's own copy of Latin-1 bytes into a string: for short texts TextDecoder costs far more. */
const latin1Slice: Slice | undefined = (globalThis as { Buffer?: { prototype: { latin1Slice?: Slice } } }).Buffer
  ?.prototype.latin1Slice;

const internedBytesMax = 24;
const internedSlots = 2048;
const interned: (string | undefined)[] = new Array(internedSlots).fill(undefined);

/** The text of a string or key token, as the cursor describes it. */
export function decodeText(bytes: Uint8Array, start: number, stop: number, escaped: boolean, wide: boolean): string {
  if (escaped) return decodeEscaped(bytes, start, stop);
  if (wide) return utf8.decode(bytes.subarray(start, stop));
  return stop - start <= internedBytesMax ? internText(bytes, start, stop) : decodeAscii(bytes, start, stop);
}

export function decodeAscii(bytes: Uint8Array, start: number, stop: number): string {
  if (latin1Slice !== undefined) return latin1Slice.call(bytes, start, stop);
  return utf8.decode(bytes.subarray(start, stop));
}

/**
 * Short ASCII text that recurs (keys, names, words), from a small table of those seen last. The same
 * bytes then give the same string object, which makes property look-ups faster.
 */
function internText(bytes: Uint8Array, start: number, stop: number): string {
  let hash = stop - start;
  for (let i = start; i < stop; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 11)) & (internedSlots - 1);
  const known = interned[slot];
  if (known !== undefined && isText(known, bytes, start, stop)) return known;
  const text = decodeAscii(bytes, start, stop);
  interned[slot] = text;
  return text;
}

function isText(text: string, bytes: Uint8Array, start: number, stop: number): boolean {
  const size = stop - start;
  if (text.length !== size) return false;
  for (let i = 0; i < size; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

const shortEscapes: Readonly<Record<number, string>> = {
  34: '"',
  92: "\\",
  47: "/",
  98: "\b",
  102: "\f",
  110: "\n",
  114: "\r",
  116: "\t",
};

function decodeEscaped(bytes: Uint8Array, start: number, stop: number): string {
  let text = "";
  let plainFrom = start;
  for (let p = start; p < stop; ) {
    if (bytes[p] !== 0x5c) {
      p++;
      continue;
    }
    if (p > plainFrom) text += utf8.decode(bytes.subarray(plainFrom, p));
    const c = bytes[p + 1] as number;
    if (c === 0x75) {
      text += String.fromCharCode(decodeHex4(bytes, p + 2));
      p += 6;
    } else {
      text += shortEscapes[c];
      p += 2;
    }
    plainFrom = p;
  }
  return stop > plainFrom ? text + utf8.decode(bytes.subarray(plainFrom, stop)) : text;
}

function decodeHex4(bytes: Uint8Array, p: number): number {
  let unit = 0;
  for (let i = p; i < p + 4; i++) unit = unit * 16 + hexDigit(bytes[i] as number);
  return unit;
}
