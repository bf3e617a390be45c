// How many events of all runs never came. Counting reads every range of sequence numbers that is stored, so who asks often
// gets the last count until the store has rested from it.

/** After a count, the store rests this many times as long as the count took. */
const restShare = 50;

export class MissingEvents {
  private count = 0;
  private restUntilMs = 0;
  private readonly read: () => Promise<number>;

  constructor(read: () => Promise<number>) {
    this.read = read;
  }

  /** The last count, taken anew if that is due. A store that does not answer leaves it as it is. */
  async refresh(): Promise<number> {
    const beganMs = performance.now();
    if (beganMs < this.restUntilMs) return this.count;
    // Whoever asks meanwhile gets the count before.
    this.restUntilMs = Number.POSITIVE_INFINITY;
    this.count = await this.read().catch(() => this.count);
    const endMs = performance.now();
    this.restUntilMs = endMs + restShare * (endMs - beganMs);
    return this.count;
  }
}
