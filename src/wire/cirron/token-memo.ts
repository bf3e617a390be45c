// Rows of one block repeat their names and words. A memo knows where a token last stood in the bytes and
// what it became, so that the same bytes are compared instead of being hashed and decoded again.

import { isSameText } from "#base/json/words.ts";

const slots = 32;

/** Words of one column: bytes of the token to its code in the column's dictionary. */
export class WordMemo {
  /** Per slot: where the token stands, its size, its code. */
  private readonly entries = new Int32Array(slots * 3);

  /** Begins with another column or other bytes. */
  clear(): void {
    this.entries.fill(0);
  }

  /** The code of the token, or -1. Tokens below four bytes are never known. */
  find(view: DataView, from: number, to: number): number {
    const size = to - from;
    if (size < 4) return -1;
    const { entries } = this;
    const at = slotOf(view, from, size) * 3;
    if (entries[at + 1] !== size || !isSameText(view, entries[at] as number, from, size)) return -1;
    return entries[at + 2] as number;
  }

  keep(view: DataView, from: number, to: number, code: number): void {
    const size = to - from;
    if (size < 4) return;
    const at = slotOf(view, from, size) * 3;
    this.entries[at] = from;
    this.entries[at + 1] = size;
    this.entries[at + 2] = code;
  }
}

function slotOf(view: DataView, from: number, size: number): number {
  const mixed = view.getInt32(from, true) ^ Math.imul(view.getInt32(from + size - 4, true), 0x01000193) ^ size;
  return Math.imul(mixed, 0x9e3779b1) >>> 27;
}
