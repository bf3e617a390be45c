// How much one connection may use of the room that is reserved for those who send little.

const bytesPerS = 64 * 1024;

export class QuietQuota {
  private second = 0;
  private used = 0;

  /** False when it is used up for this second. */
  take(bytes: number): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.second) this.used = 0;
    this.second = second;
    this.used += bytes;
    return this.used <= bytesPerS;
  }
}
