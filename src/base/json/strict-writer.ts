// Copies JSON text that was checked before without its blanks, and with quotes around NaN and ±Infinity, some at a time.

export class StrictWriter {
  private readonly bytes: Uint8Array;
  private readonly out: Uint8Array;
  private readonly marks: readonly number[];
  /** Where the marked places are in the new text. */
  private readonly places = new Map<number, number>();
  private marksPassed = 0;
  private at: number;
  private written = 0;
  private isText = false;

  /** Writes from the first mark to the last. Marks are where values begin and end, in order. */
  constructor(bytes: Uint8Array, marks: readonly number[]) {
    this.bytes = bytes;
    this.marks = marks;
    this.at = marks[0] as number;
    const length = (marks.at(-1) as number) - this.at;
    // A list of NaN grows by half.
    this.out = new Uint8Array(length + (length >> 1) + 2);
  }

  /** False when all is written. */
  writeSome(size: number): boolean {
    const { marks } = this;
    const stop = this.at + size;
    while (this.at < stop) {
      if (this.at === marks[this.marksPassed]) {
        this.places.set(this.at, this.written);
        this.marksPassed++;
      }
      const next = marks[this.marksPassed];
      if (next === undefined) return false;
      this.writeUntil(Math.min(next, stop));
    }
    return true;
  }

  between(start: number, end: number): Uint8Array {
    return this.out.subarray(this.places.get(start), this.places.get(end));
  }

  private writeUntil(stop: number): void {
    const { bytes, out } = this;
    let { at, written, isText } = this;
    for (; at < stop; at++) {
      const c = bytes[at] as number;
      if (isText) {
        out[written++] = c;
        if (c === 0x22) isText = false;
        else if (c === 0x5c) out[written++] = bytes[++at] as number;
      } else if (c > 0x20) {
        const word = wordLength(bytes, at, c);
        if (word === 0) out[written++] = c;
        else {
          out[written++] = 0x22;
          for (const last = at + word; at < last; at++) out[written++] = bytes[at] as number;
          out[written++] = 0x22;
          at--;
        }
        isText = c === 0x22;
      }
    }
    this.at = at;
    this.written = written;
    this.isText = isText;
  }
}

/** How long the NaN, Infinity or -Infinity is that begins here; 0 when none does. */
function wordLength(bytes: Uint8Array, at: number, c: number): number {
  if (c === 0x4e) return 3;
  if (c === 0x49) return 8;
  return c === 0x2d && bytes[at + 1] === 0x49 ? 9 : 0;
}
