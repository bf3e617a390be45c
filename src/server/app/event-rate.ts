// Events per second over the last few seconds, from counts in one-second slots.

const slots = 5;

export class EventRate {
  private readonly counts = new Float64Array(slots + 1);
  private readonly seconds = new Float64Array(slots + 1);
  private readonly now: () => number;

  constructor(now: () => number = () => performance.now() / 1000) {
    this.now = now;
  }

  add(count: number): void {
    const second = Math.floor(this.now());
    const slot = second % (slots + 1);
    if (this.seconds[slot] !== second) {
      this.seconds[slot] = second;
      this.counts[slot] = 0;
    }
    this.counts[slot] = (this.counts[slot] as number) + count;
  }

  /** Of whole seconds only: the one that is under way would make every value too small. */
  perSecond(): number {
    const second = Math.floor(this.now());
    let sum = 0;
    for (let slot = 0; slot <= slots; slot++) {
      const age = second - (this.seconds[slot] as number);
      if (age >= 1 && age <= slots) sum += this.counts[slot] as number;
    }
    return sum / slots;
  }
}
