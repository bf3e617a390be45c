// The first bytes of a connection may be an API key, as a line of text or as a frame of type `auth`. They are taken out
// here, so that a key never reaches the journal.
//
//   first byte ≥ 0x20    a line, at most 256 bytes and ended by LF, is a key; anything else is no key, and part of the
//                        stream. (As a length such a byte would mean a frame of half a gigabyte.)
//   else                 a first whole frame of type `auth` with `p.key`; any other frame is part of the stream

import { parseJson } from "#base/json/parse.ts";
import { isObject } from "#base/json/value.ts";

const keyLineBytesMax = 256;
const authFrameBytesMax = 4096;
const prefixBytes = 4;
const lineFeed = 0x0a;

export interface Sniffed {
  /** '' when no key was given. */
  readonly key: string;
  /** The stream without the key. */
  readonly rest: Uint8Array;
}

export class Sniffer {
  private held: Uint8Array = new Uint8Array(0);

  /** Undefined while more bytes are needed to tell. */
  push(chunk: Uint8Array): Sniffed | undefined {
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    if (this.held.length === 0) return undefined;
    return (this.held[0] as number) >= 0x20 ? this.sniffLine() : this.sniffFrame();
  }

  /** No more bytes will come: what is held is stream. */
  finish(): Sniffed {
    return { key: "", rest: this.held };
  }

  private sniffLine(): Sniffed | undefined {
    const end = this.held.subarray(0, keyLineBytesMax).indexOf(lineFeed);
    if (end >= 0) return { key: toText(this.held.subarray(0, end)).trim(), rest: this.held.subarray(end + 1) };
    return this.held.length < keyLineBytesMax ? undefined : this.finish();
  }

  private sniffFrame(): Sniffed | undefined {
    if (this.held.length < prefixBytes) return undefined;
    const size = new DataView(this.held.buffer, this.held.byteOffset).getUint32(0);
    if (size > authFrameBytesMax) return this.finish();
    const end = prefixBytes + size;
    if (this.held.length < end) return undefined;
    const key = readAuthKey(this.held.subarray(prefixBytes, end));
    return key === undefined ? this.finish() : { key, rest: this.held.subarray(end) };
  }
}

/** The key of an `auth` frame, '' when it has none; undefined when this is another frame. */
function readAuthKey(json: Uint8Array): string | undefined {
  // Nearly every connection starts with something else, and finding the word is faster than parsing.
  if (!Buffer.from(json.buffer, json.byteOffset, json.length).includes('"auth"')) return undefined;
  const parsed = parseJson(json);
  if (!parsed.ok || !isObject(parsed.value) || parsed.value["t"] !== "auth") return undefined;
  const payload = parsed.value["p"];
  const key = isObject(payload) ? payload["key"] : undefined;
  return typeof key === "string" ? key : "";
}

function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
