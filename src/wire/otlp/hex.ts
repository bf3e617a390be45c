// Ids as hex digits, without making a string for each.

const digits = new TextEncoder().encode("0123456789abcdef");
/** Two digits of every byte. */
const pairs = new Uint8Array(512);
for (let byte = 0; byte < 256; byte++) {
  pairs[byte * 2] = digits[byte >> 4] as number;
  pairs[byte * 2 + 1] = digits[byte & 15] as number;
}

/** Writes two digits per byte; false when all bytes are zero, which no valid id is. */
export function putHex(source: Uint8Array, from: number, to: number, target: Uint8Array): boolean {
  let any = 0;
  for (let i = from, p = 0; i < to; i++, p += 2) {
    const byte = source[i] as number;
    any |= byte;
    target[p] = pairs[byte * 2] as number;
    target[p + 1] = pairs[byte * 2 + 1] as number;
  }
  return any !== 0;
}
