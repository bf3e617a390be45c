// The last values of a series: as many as rules look back.

export const lastValuesMax = 512;
const firstRoom = 32;

/** The last values of something, oldest first. */
export class LastValues {
  private max: number;
  /** Grows up to `max`: most series are short. */
  private values: number[];
  private next = 0;
  count = 0;
  held = 0;

  constructor(max: number) {
    this.max = max;
    this.values = makeRoom(Math.min(max, firstRoom));
  }

  /** From now on as many are held, `lastValuesMax` at most. */
  widen(max: number): void {
    this.max = Math.max(this.max, Math.min(max, lastValuesMax));
  }

  add(value: number): void {
    if (this.held === this.values.length && this.held < this.max) this.grow();
    this.values[this.next++] = value;
    if (this.next === this.values.length) this.next = 0;
    this.count++;
    if (this.held < this.values.length) this.held++;
  }

  private grow(): void {
    const wider = makeRoom(Math.min(this.max, this.values.length * 4));
    for (let at = 0; at < this.held; at++) wider[at] = this.fromEnd(this.held - 1 - at);
    this.next = this.held;
    this.values = wider;
  }

  /** The last `count` of them, or all that are held. */
  last(count: number = this.held): Float64Array {
    const size = Math.min(count, this.held);
    const last = new Float64Array(size);
    for (let at = 0; at < size; at++) last[at] = this.fromEnd(size - 1 - at);
    return last;
  }

  isLastAbove(limit: number, count: number): boolean {
    for (let at = 0; at < count; at++) if (!(this.fromEnd(at) > limit)) return false;
    return true;
  }

  /** 0 is the newest. */
  fromEnd(at: number): number {
    return this.values[(this.next - 1 - at + 2 * this.values.length) % this.values.length] as number;
  }
}

/**
 * On the heap, where a hundred thousand short ones lie close together: each typed array would have some hundred bytes of its
 * own beside the values. Filled with a fraction, so that the runtime keeps all of them as doubles.
 */
function makeRoom(length: number): number[] {
  return new Array<number>(length).fill(0.5);
}
