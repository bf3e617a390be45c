// Binary search.

/** The first place from `low` on at which `isBefore` is false, `high` when there is none; it must stay false from there. */
export function firstPlace(low: number, high: number, isBefore: (place: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}
