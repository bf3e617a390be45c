// What single bytes mean in JSON text.

/** Whether this byte may follow a backslash; `u` is not one of these. */
export function isShortEscape(c: number): boolean {
  return c === 0x22 || c === 0x5c || c === 0x2f || c === 0x62 || c === 0x66 || c === 0x6e || c === 0x72 || c === 0x74;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(c: number): number {
  if (c >= 0x30 && c <= 0x39) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** A byte as an error message shows it. */
export function nameByte(c: number): string {
  return c > 0x20 && c < 0x7f ? `'${String.fromCharCode(c)}'` : `0x${c.toString(16).padStart(2, "0")}`;
}
