// Finds the end of a value by its quotes and brackets alone, for values that are nested too deep for a cursor or whose texts
// hold bytes that a cursor refuses. Everything else is for JsonCursor, which checks what it passes.

/** The offset after the value that starts at `from`; -1 when it does not end. */
export function endOfValue(bytes: Uint8Array, from: number): number {
  let open = 0;
  for (let at = from; at < bytes.length; at++) {
    const c = bytes[at];
    if (c === 0x22) {
      for (at++; at < bytes.length && bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) at++;
      if (open === 0) return at < bytes.length ? at + 1 : -1;
    } else if (c === 0x7b || c === 0x5b) open++;
    else if (c === 0x7d || c === 0x5d) {
      // A number or a literal ends before what follows it.
      if (open === 0) return at;
      if (--open === 0) return at + 1;
    } else if (open === 0 && (c === 0x2c || c === 0x3a || c === 0x20)) return at;
  }
  return -1;
}
