// Numbers of components in the order of their start, so that those near a time are found without looking at all.

import type { SenderNs } from "#base/clock.ts";
import { firstPlace } from "#base/first-place.ts";

interface Times {
  readonly firstNs: SenderNs;
  readonly lastNs: SenderNs;
}

export class TimeOrder {
  private readonly numbers: number[] = [];
  private readonly starts: bigint[] = [];
  private readonly startOf = new Map<number, bigint>();
  /** The longest duration of anything that was ever in it: what began that much earlier may still reach a time. */
  private longestNs = 0n;

  get size(): number {
    return this.numbers.length;
  }

  /** Files a number by its times, or refiles it when they have changed. */
  put(number: number, { firstNs, lastNs }: Times): void {
    if (lastNs - firstNs > this.longestNs) this.longestNs = lastNs - firstNs;
    const before = this.startOf.get(number);
    if (before === firstNs) return;
    if (before !== undefined) this.delete(number);
    const place = this.placeOf(firstNs);
    this.numbers.splice(place, 0, number);
    this.starts.splice(place, 0, firstNs);
    this.startOf.set(number, firstNs);
  }

  delete(number: number): boolean {
    const start = this.startOf.get(number);
    if (start === undefined) return false;
    const place = this.numbers.indexOf(number, this.placeOf(start));
    this.numbers.splice(place, 1);
    this.starts.splice(place, 1);
    return this.startOf.delete(number);
  }

  /** The range of places, end excluded, that contains everything no farther than this from these times. */
  placesNear({ firstNs, lastNs }: Times, farthestNs: bigint): [number, number] {
    return [this.placeOf(firstNs - farthestNs - this.longestNs), this.placeOf(lastNs + farthestNs + 1n)];
  }

  at(place: number): number {
    return this.numbers[place] as number;
  }

  /** The first place whose start is not before this. */
  private placeOf(startNs: SenderNs): number {
    return firstPlace(0, this.starts.length, (place) => (this.starts[place] as bigint) < startNs);
  }
}

/** Places that need not be looked at again. Whole stretches of them are skipped at once. */
export class PassedPlaces {
  private readonly behind = new Map<number, number>();

  pass(place: number): void {
    this.behind.set(place, place + 1);
  }

  /** This place, or the first one after it that was not passed. */
  next(place: number): number {
    let next = place;
    for (let step = this.behind.get(next); step !== undefined; step = this.behind.get(next)) next = step;
    for (let at = place; at !== next; ) {
      const step = this.behind.get(at) as number;
      this.behind.set(at, next);
      at = step;
    }
    return next;
  }
}
