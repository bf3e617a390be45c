// How long the oldest record that is not stored has waited.

interface Mark {
  readonly position: number;
  readonly atMs: number;
}

/** A store that stays away for days must not fill the memory with marks: beyond this, every second one goes. */
const marksMax = 2000;
const apartMsMin = 100;

export class LagWatch {
  private marks: Mark[] = [];
  /** Positions that come closer together than this share a mark. */
  private apartMs = apartMsMin;
  private readonly nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.nowMs = nowMs;
  }

  /** Records up to this position wait from now on, if they did not before. */
  note(position: number): void {
    const atMs = this.nowMs();
    const last = this.marks.at(-1);
    if (last !== undefined && atMs - last.atMs <= this.apartMs) return;
    this.marks.push({ position, atMs });
    if (this.marks.length <= marksMax) return;
    // The oldest one stays, so that the longest wait is told exactly.
    this.marks = this.marks.filter((_, at) => at % 2 === 0);
    this.apartMs *= 2;
  }

  lagMs(stored: number): number {
    const first = this.marks.findIndex(({ position }) => position > stored);
    this.marks = first < 0 ? [] : this.marks.slice(first);
    if (first < 0) this.apartMs = apartMsMin;
    const [oldest] = this.marks;
    return oldest === undefined ? 0 : Math.round(this.nowMs() - oldest.atMs);
  }
}
