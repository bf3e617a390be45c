// Slows down whoever tries keys at the login. A key cannot be guessed, but thousands of tries a second are not those of
// a person, and each would be a log line.

const triesMax = 10;
const windowMs = 60_000;
const addressesMax = 10_000;

interface Tries {
  wrong: number;
  readonly untilMs: number;
}

export class LoginThrottle {
  private readonly tries = new Map<string, Tries>();

  /** How long this address has to wait before its next try, in ms. */
  waitMs(address: string, nowMs: number): number {
    const found = this.tries.get(address);
    return found === undefined || found.wrong < triesMax ? 0 : Math.max(0, found.untilMs - nowMs);
  }

  noteWrong(address: string, nowMs: number): void {
    const found = this.tries.get(address);
    if (found !== undefined && found.untilMs > nowMs) found.wrong++;
    else this.begin(address, nowMs);
  }

  noteRight(address: string): void {
    this.tries.delete(address);
  }

  private begin(address: string, nowMs: number): void {
    this.tries.delete(address);
    if (this.tries.size >= addressesMax) this.tries.delete(this.tries.keys().next().value as string);
    this.tries.set(address, { wrong: 1, untilMs: nowMs + windowMs });
  }
}
