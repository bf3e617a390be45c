// Sorts indexes by their values. Rows are mostly in order already, or in a few sorted runs: a merge sort that
// starts from short sorted runs and leaves halves alone that already follow each other takes one pass over such input.

import { firstPlace } from "./first-place.ts";
import { atOnce } from "./turns.ts";

/** Negative when `a` goes before `b`. */
export type Compare = (a: number, b: number) => number;

const runLength = 32;

/** Places between two pauses. */
const stepLength = 65_536;

export function sortIndex(index: Uint32Array, compare: Compare): void {
  atOnce(sortIndexInSteps(index, compare));
}

/** The same with pauses, for millions of indexes. */
export function* sortIndexInSteps(index: Uint32Array, compare: Compare): Generator<void, void> {
  const { length } = index;
  for (let from = 0; from < length; from += runLength) {
    if (from > 0 && from % stepLength === 0) yield;
    insertionSort(index, from, Math.min(length, from + runLength), compare);
  }
  if (length <= runLength) return;
  const buffer = new Uint32Array(length);
  let sorted = 0;
  for (let width = runLength; width < length; width *= 2)
    for (let from = 0; from + width < length; from += width * 2) {
      const middle = from + width;
      const to = Math.min(length, middle + width);
      if (compare(index[middle - 1] as number, index[middle] as number) <= 0) continue;
      buffer.set(index.subarray(from, middle), from);
      yield* merge(index, from, buffer.subarray(from, middle), index.subarray(middle, to), compare);
      sorted += to - from;
      if (sorted < stepLength) continue;
      sorted = 0;
      yield;
    }
}

/** Merges two sorted lists, with pauses; equal ones of the first list go before those of the second. */
export function* mergeSorted(a: Uint32Array, b: Uint32Array, compare: Compare): Generator<void, Uint32Array> {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const merged = new Uint32Array(a.length + b.length);
  // A few among many: binary search finds their places, and what lies between is copied as it is.
  if (b.length * few < a.length) yield* insertFew(merged, a, b, (many, one) => compare(many, one) > 0);
  else if (a.length * few < b.length) yield* insertFew(merged, b, a, (many, one) => compare(many, one) >= 0);
  else yield* merge(merged, 0, a, b, compare);
  return merged;
}

const few = 32;
const fewAtOnce = 4096;

/** `isBehind` says whether one of the many goes behind one of the few. */
function* insertFew(
  into: Uint32Array,
  many: Uint32Array,
  others: Uint32Array,
  isBehind: (many: number, one: number) => boolean,
): Generator<void, void> {
  let from = 0;
  for (const [at, one] of others.entries()) {
    if (at % fewAtOnce === fewAtOnce - 1) yield;
    const to = firstPlace(from, many.length, (place) => !isBehind(many[place] as number, one));
    into.set(many.subarray(from, to), from + at);
    into[to + at] = one;
    from = to;
  }
  into.set(many.subarray(from), from + others.length);
}

interface Merging {
  readonly into: Uint32Array;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  at: number;
  atA: number;
  atB: number;
}

/** `b` may be the end of `into` itself: the writing place never overtakes the reading place. */
function* merge(
  into: Uint32Array,
  start: number,
  a: Uint32Array,
  b: Uint32Array,
  compare: Compare,
): Generator<void, void> {
  const merging = { into, a, b, at: start, atA: 0, atB: 0 };
  while (mergeSome(merging, compare)) yield;
}

/** False when all of it is merged. */
function mergeSome(merging: Merging, compare: Compare): boolean {
  const { into, a, b } = merging;
  let { at, atA, atB } = merging;
  const pauseAt = at + stepLength;
  while (atA < a.length && atB < b.length && at < pauseAt) {
    const one = a[atA] as number;
    const other = b[atB] as number;
    if (compare(one, other) <= 0) {
      into[at++] = one;
      atA++;
    } else {
      into[at++] = other;
      atB++;
    }
  }
  [merging.at, merging.atA, merging.atB] = [at, atA, atB];
  if (atA < a.length && atB < b.length) return true;
  into.set(a.subarray(atA), at);
  at += a.length - atA;
  if (b.buffer !== into.buffer || b.byteOffset + atB * 4 !== into.byteOffset + at * 4) into.set(b.subarray(atB), at);
  return false;
}

function insertionSort(index: Uint32Array, from: number, to: number, compare: Compare): void {
  for (let i = from + 1; i < to; i++) {
    const one = index[i] as number;
    let at = i;
    while (at > from && compare(index[at - 1] as number, one) > 0) {
      index[at] = index[at - 1] as number;
      at--;
    }
    index[at] = one;
  }
}
