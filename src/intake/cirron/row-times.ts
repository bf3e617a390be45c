// When the rows of a batch begin and end, as facts of their component. Times are compared as the pairs of words
// that they are; only the two that win become BigInts.

import type { Int64Column, StringColumn } from "#base/columns.ts";
import { type Component, noteRowTime } from "./component.ts";

/** Rows with a 1 in `dropped` are left out. */
export function noteRowTimes(
  component: Component,
  columns: { readonly starts: Int64Column; readonly ends: Int64Column; readonly ids: StringColumn },
  dropped: Uint8Array | null,
): void {
  const { starts, ends, ids } = columns;
  let first = -1;
  let last = -1;
  // Of rows that begin together the first by name counts; a text is made of those only.
  let firstId: string | null = null;
  for (let row = 0; row < ids.length; row++) {
    if (dropped !== null && dropped[row] === 1) continue;
    if (last < 0 || compareTimes(ends.words, row, last) > 0) last = row;
    const order = first < 0 ? -1 : compareTimes(starts.words, row, first);
    if (order > 0) continue;
    if (order === 0) {
      firstId ??= ids.at(first);
      const id = ids.at(row);
      if (id >= firstId) continue;
      firstId = id;
    } else firstId = null;
    first = row;
  }
  if (first >= 0) noteRowTime(component, starts.at(first), ends.at(last), () => ids.at(first));
}

function compareTimes(words: Uint32Array, a: number, b: number): number {
  const high = ((words[a * 2 + 1] as number) | 0) - ((words[b * 2 + 1] as number) | 0);
  return high !== 0 ? high : (words[a * 2] as number) - (words[b * 2] as number);
}
