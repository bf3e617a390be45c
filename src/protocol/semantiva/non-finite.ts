// Where the first NaN or Infinity literal stands in a text that is known to be JSON but for them.

export function findNonFinite(bytes: Uint8Array): { readonly offset: number; readonly literal: string } {
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    if (inString && c === 0x5c) i++;
    else if (c === 0x22) inString = !inString;
    else if (!inString && (c === 0x4e || c === 0x49)) {
      const negative = bytes[i - 1] === 0x2d;
      const literal = c === 0x4e ? "NaN" : negative ? "-Infinity" : "Infinity";
      return { offset: negative ? i - 1 : i, literal };
    }
  }
  return { offset: 0, literal: "a non-finite number" };
}
