const encoder = new TextEncoder();
const scratch = new Uint8Array(1024);

/** At most `bytesMax` bytes of UTF-8, never ending inside a character. */
export function cutUtf8(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const room = bytesMax <= scratch.length ? scratch.subarray(0, bytesMax) : new Uint8Array(bytesMax);
  // encodeInto stops before a character that does not fit and says how many code units it took.
  return text.slice(0, encoder.encodeInto(text, room).read);
}
