// The first bytes of a socket may be a line of text that is an API key: a first byte of at least 0x20, ended by LF,
// at most 256 bytes. A frame cannot be taken for one, because its first byte is below 0x20.

const greetingBytesMax = 256;

export type Greeting =
  | { readonly kind: "wait" }
  | { readonly kind: "none" }
  /** `end` is where the line, with its LF, ends. */
  | { readonly kind: "key"; readonly key: string; readonly end: number };

/** `bytes` are all that came since the socket opened. */
export function readGreeting(bytes: Uint8Array): Greeting {
  for (let i = 0; i < Math.min(bytes.length, greetingBytesMax); i++) {
    const byte = bytes[i] as number;
    if (byte === 0x0a && i > 0)
      return { kind: "key", key: new TextDecoder().decode(bytes.subarray(0, i)).trim(), end: i + 1 };
    // No key has a control byte, except the CR of a CRLF.
    if (byte < 0x20 && !(byte === 0x0d && i > 0)) return { kind: "none" };
  }
  return bytes.length >= greetingBytesMax ? { kind: "none" } : { kind: "wait" };
}
