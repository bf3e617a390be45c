// The order of runs: by the values that were asked for, the id last, so that no two runs are equal and a page can begin
// after any run, also one that is gone.

import type { FieldValue } from "./match.ts";

/** The values that decide a run's place in the order. It is what a cursor holds. */
export type SortKey = readonly (string | number | null)[];

export function toSortValue(value: FieldValue | undefined): string | number | null {
  if (value === undefined) return null;
  if (value.num === null) return value.text;
  // NaN has no place among numbers and no form in a cursor: it stands with the texts, after them.
  return Number.isNaN(value.num) ? "NaN" : value.num;
}

/** `descending` by position; a run without the value comes last, whichever way the sort goes. */
export function compareKeys(a: SortKey, b: SortKey, descending: readonly boolean[]): number {
  for (let at = 0; at < a.length; at++) {
    const left = a[at] ?? null;
    const right = b[at] ?? null;
    const order = compareValues(left, right);
    if (order === 0) continue;
    return left !== null && right !== null && descending[at] === true ? -order : order;
  }
  return 0;
}

function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : 1;
}

export interface Keyed {
  readonly place: number;
  readonly key: SortKey;
}

/** Keeps the first `limit` of all that it is offered; a page of 100 out of 100,000 needs no sorting of the rest. */
export class FirstOnes {
  private readonly limit: number;
  private readonly compare: (a: SortKey, b: SortKey) => number;
  private held: Keyed[] = [];
  /** Whatever comes after this is not among the first. */
  private worst: SortKey | null = null;

  constructor(limit: number, descending: readonly boolean[]) {
    this.limit = limit;
    this.compare = (a, b) => compareKeys(a, b, descending);
  }

  offer(place: number, key: SortKey): void {
    if (this.worst !== null && this.compare(key, this.worst) > 0) return;
    this.held.push({ place, key });
    if (this.held.length >= 2 * this.limit) this.cut();
  }

  take(): readonly Keyed[] {
    this.cut();
    return this.held;
  }

  private cut(): void {
    this.held.sort((a, b) => this.compare(a.key, b.key));
    if (this.held.length < this.limit) return;
    this.held.length = this.limit;
    this.worst = (this.held.at(-1) as Keyed).key;
  }
}
