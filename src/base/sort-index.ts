// Sorts places by what lies at them. Rows mostly come in order already, or in a few runs that are: a merge sort that
// starts from short sorted runs and leaves halves alone that already follow each other takes one pass over such input.

/** Below 0 when the first goes before the second. */
export type Compare = (a: number, b: number) => number;

const runLength = 32;

export function sortIndex(index: Uint32Array, compare: Compare): void {
  const { length } = index;
  for (let from = 0; from < length; from += runLength)
    insertionSort(index, from, Math.min(length, from + runLength), compare);
  if (length <= runLength) return;
  const buffer = new Uint32Array(length);
  for (let width = runLength; width < length; width *= 2)
    for (let from = 0; from + width < length; from += width * 2) {
      const middle = from + width;
      const to = Math.min(length, middle + width);
      if (compare(index[middle - 1] as number, index[middle] as number) <= 0) continue;
      buffer.set(index.subarray(from, middle), from);
      mergeInto(index, from, buffer.subarray(from, middle), index.subarray(middle, to), compare);
    }
}

/** Two sorted lists as one; of equals, those of the first go before. */
export function mergeSorted(a: Uint32Array, b: Uint32Array, compare: Compare): Uint32Array {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const merged = new Uint32Array(a.length + b.length);
  // A few among many: their places are found by halving, and what lies between is copied as it is.
  if (b.length * few < a.length) insertFew(merged, a, b, (many, one) => compare(many, one) > 0);
  else if (a.length * few < b.length) insertFew(merged, b, a, (many, one) => compare(many, one) >= 0);
  else mergeInto(merged, 0, a, b, compare);
  return merged;
}

const few = 32;

/** `isBehind` says whether one of the many goes behind one of the few. */
function insertFew(
  into: Uint32Array,
  many: Uint32Array,
  others: Uint32Array,
  isBehind: (many: number, one: number) => boolean,
): void {
  let from = 0;
  for (const [at, one] of others.entries()) {
    let low = from;
    let high = many.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBehind(many[middle] as number, one)) high = middle;
      else low = middle + 1;
    }
    into.set(many.subarray(from, low), from + at);
    into[low + at] = one;
    from = low;
  }
  into.set(many.subarray(from), from + others.length);
}

/** `b` may be the end of `into` itself: what is written never overtakes what is still to be read of it. */
function mergeInto(into: Uint32Array, start: number, a: Uint32Array, b: Uint32Array, compare: Compare): void {
  let atA = 0;
  let atB = 0;
  let at = start;
  while (atA < a.length && atB < b.length) {
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
  into.set(a.subarray(atA), at);
  at += a.length - atA;
  if (b.buffer !== into.buffer || b.byteOffset + atB * 4 !== into.byteOffset + at * 4) into.set(b.subarray(atB), at);
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
