// What a start spent its time on, for whoever finds one slow.

export class StartSteps {
  private sinceMs = performance.now();
  private readonly perStep: Record<string, number> = {};

  /** What was done since the last step ended. */
  end(name: string): void {
    const nowMs = performance.now();
    this.perStep[`${name}_ms`] = Math.round(nowMs - this.sinceMs);
    this.sinceMs = nowMs;
  }

  get all(): Readonly<Record<string, number>> {
    return this.perStep;
  }

  get tookMs(): number {
    return Object.values(this.perStep).reduce((sum, ms) => sum + ms, 0);
  }
}
