// The faults of one body, up to a bound. A few compressed kilobytes may unpack to millions of bad records. The first faults
// tell enough, and one more fault counts the rest.

import type { Fault } from "./fault.ts";

/** How many faults of one body are kept one by one. */
export const faultsMax = 1000;

export class FaultList<T> {
  private readonly max: number;
  private readonly kept: T[] = [];
  private firstLeftOut: T | undefined;
  private leftOut = 0;

  constructor(max: number = faultsMax) {
    this.max = max;
  }

  get length(): number {
    return this.kept.length + this.leftOut;
  }

  /** `make` is not called for a fault that is only counted. */
  add(make: () => T): void {
    if (this.kept.length < this.max) this.kept.push(make());
    else if (this.leftOut++ === 0) this.firstLeftOut = make();
  }

  clear(): void {
    this.kept.length = 0;
    this.leftOut = 0;
  }

  /** All kept faults, and one for those left out: `toRest` makes it from the first of them and their number. */
  toArray(toRest: (first: T, count: number) => T): T[] {
    const { kept, firstLeftOut, leftOut } = this;
    if (leftOut === 0 || firstLeftOut === undefined) return kept;
    return [...kept, leftOut === 1 ? firstLeftOut : toRest(firstLeftOut, leftOut)];
  }
}

/** A fault that stands for many, with the bytes and the place of the first of them. */
export function toRestFault({ detail, place, raw }: Fault, count: number): Fault {
  return { code: "faults_left_out", detail: `${count} more were refused, the first because: ${detail}`, place, raw };
}
