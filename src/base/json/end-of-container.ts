// The end of an object or list that is nested too deep for the readers.

/** Behind the object that starts at `from`, by its brackets alone, however deep; -1 when it does not end. */
export function endOfContainer(bytes: Uint8Array, from: number): number {
  let open = 0;
  for (let at = from; at < bytes.length; at++) {
    const c = bytes[at];
    if (c === 0x22) {
      for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
    } else if (c === 0x7b || c === 0x5b) open++;
    else if ((c === 0x7d || c === 0x5d) && --open === 0) return at + 1;
  }
  return -1;
}
