// Tells a reader of a long text when to pause: after a number of values, or of bytes when the values are long.

const pauseValues = 4096;
export const pauseBytes: number = 256 * 1024;

export class Pauses {
  private values = 0;
  private dueAt: number;

  constructor(start: number) {
    this.dueAt = start + pauseBytes;
  }

  /** To be asked once per value; `pos` is where the reader is. */
  isDue(pos: number): boolean {
    if (++this.values % pauseValues !== 0 && pos < this.dueAt) return false;
    this.dueAt = pos + pauseBytes;
    return true;
  }
}
