// When a reader of a long text offers a pause: after some values, or after some bytes of long ones.

const pauseValues = 4096;
export const pauseBytes: number = 256 * 1024;

export class Pauses {
  private values = 0;
  private dueAt: number;

  constructor(start: number) {
    this.dueAt = start + pauseBytes;
  }

  /** To be asked once a value; `pos` is where the reader stands. */
  isDue(pos: number): boolean {
    if (++this.values % pauseValues !== 0 && pos < this.dueAt) return false;
    this.dueAt = pos + pauseBytes;
    return true;
  }
}
