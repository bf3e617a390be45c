// Events per second over the last few seconds, from counts of each second.

const secondsMax = 5;

export class EventRate {
  private readonly counts = new Map<number, number>();
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now() / 1000) {
    this.now = now;
  }

  add(count: number): void {
    const second = Math.floor(this.now());
    this.counts.set(second, (this.counts.get(second) ?? 0) + count);
    for (const at of this.counts.keys()) if (at < second - secondsMax) this.counts.delete(at);
  }

  /** Counts whole seconds only: the current one would make every value too small. */
  perSecond(): number {
    const second = Math.floor(this.now());
    let sum = 0;
    for (const [at, count] of this.counts) if (at < second && at >= second - secondsMax) sum += count;
    return sum / secondsMax;
  }
}
